(ns tare.service
  (:require [clojure.java.io :as io]
            [ring.adapter.jetty :refer [run-jetty]]
            [tare.routes :as routes]
            [tare.settings :as settings]
            [tare.termination :as termination])
  (:import [java.net JarURLConnection]
           [org.eclipse.jetty.server Server]
           [org.eclipse.jetty.util.thread QueuedThreadPool])
  (:gen-class))

(defn- compojure-version
  "The jar that Compojure is read from carries its version in its name, links resolved."
  []
  (let [connection ^JarURLConnection (.openConnection (io/resource "compojure/core.clj"))
        jar (.getCanonicalFile (io/file (.toURI (.getJarFileURL connection))))]
    (second (re-matches #"compojure-(.+)\.jar" (.getName jar)))))

(defn- selectors [size processors]
  (max 1 (min (quot processors 2) (quot size 16))))

(defn- pool-size
  "The size of the pool of Jetty 9.4 in which so many threads handle requests: the others are those of its acceptors and
  of its selectors, whose numbers follow from the processors and from the size of the pool."
  [handlers]
  (let [processors (.availableProcessors (Runtime/getRuntime))
        acceptors (max 1 (min 4 (quot processors 8)))]
    (first (filter #(>= (- % acceptors (selectors % processors)) handlers)
                   (iterate inc (+ handlers acceptors 1))))))

(defn- reserve-none
  "Jetty would have a thread in reserve, and with that handle one request more at once."
  [^Server server]
  (.setReservedThreads ^QueuedThreadPool (.getThreadPool server) 0))

(defn- serve [{:keys [port serve-on threads delay-ms]}]
  (let [size (pool-size threads)
        server (run-jetty (routes/app delay-ms)
                          {:host serve-on
                           :port port
                           :join? false
                           :min-threads (min 8 size)
                           :max-threads size
                           :configurator reserve-none})]
    (termination/on-sigterm #(.stop server))))

(defn -main [& args]
  (if (= args ["--version"])
    (println (compojure-version))
    (let [settings (settings/from-environment)]
      (try
        (serve settings)
        (catch java.io.IOException e
          (binding [*out* *err*]
            (println (str "cannot serve on " (:serve-on settings) ":" (:port settings) ": " (.getMessage e))))
          (System/exit 1))))))
