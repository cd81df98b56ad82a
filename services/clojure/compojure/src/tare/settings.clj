(ns tare.settings
  "What the program is told, by environment variables and by nothing else.")

(defn- integer
  "A value that will not do ends the program with status 2."
  [variable fallback low high]
  (let [text (or (System/getenv variable) fallback "")
        value (when (re-matches #"[0-9]{1,9}" text) (Long/parseLong text))]
    (when-not (and value (<= low value high))
      (binding [*out* *err*]
        (println (str variable " must be an integer from " low " to " high)))
      (System/exit 2))
    value))

(defn from-environment []
  {:port (integer "PORT" nil 1 65535)
   :threads (integer "THREADS" "1" 1 1024)
   :delay-ms (integer "DELAY_MS" "0" 0 60000)})
