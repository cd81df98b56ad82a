(ns tare.settings
  "What the program is told, by environment variables and by nothing else.")

(defn- refuse
  "Ends the program with status 2."
  [& why]
  (binding [*out* *err*]
    (println (apply str why)))
  (System/exit 2))

(defn- integer [variable fallback low high]
  (let [text (or (System/getenv variable) fallback "")
        value (when (re-matches #"[0-9]{1,9}" text) (Long/parseLong text))]
    (when-not (and value (<= low value high))
      (refuse variable " must be an integer from " low " to " high))
    value))

(def ^:private octet "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])")

;; InetAddress/getByName would ask the DNS for whatever is no address.
(def ^:private ipv4-pattern
  (re-pattern (str octet "(?:\\." octet "){3}")))

(defn- ipv4 [variable fallback]
  (let [value (System/getenv variable)
        text (if (empty? value) fallback value)]
    (when-not (re-matches ipv4-pattern text)
      (refuse variable " must be an IPv4 address, such as 0.0.0.0, not \"" text "\""))
    text))

(defn from-environment []
  {:port (integer "PORT" nil 1 65535)
   :serve-on (ipv4 "SERVE_ON" "127.0.0.1")
   :threads (integer "THREADS" "1" 1 1024)
   :delay-ms (integer "DELAY_MS" "0" 0 60000)})
