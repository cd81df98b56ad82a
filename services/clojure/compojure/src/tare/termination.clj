(ns tare.termination
  "Ends the program with status 0 on SIGTERM; by itself a JVM ends with 143."
  (:import [sun.misc Signal SignalHandler]))

(def ^:private grace-ms
  "How long requests in flight may take to end."
  250)

(defn on-sigterm [stop]
  (Signal/handle
   (Signal. "TERM")
   (reify SignalHandler
     (handle [_ _]
       (deref (future (stop)) grace-ms nil)
       (.halt (Runtime/getRuntime) 0)))))
