(ns tare.routes
  "The contracts of Tare on Compojure."
  (:require [compojure.core :refer [GET POST routes]]
            [compojure.route :as route]
            [ring.middleware.json :refer [wrap-json-body wrap-json-response]]
            [ring.middleware.params :refer [wrap-params]]
            [ring.util.response :refer [bad-request content-type response]]))

(def ^:private count-max 1000000)

(defn- text [body]
  (content-type (response body) "text/plain; charset=utf-8"))

(defn- echo [message delay-ms]
  (if (map? message)
    (do
      (when (pos? delay-ms)
        (Thread/sleep delay-ms))
      (response (assoc message "text" "received")))
    (bad-request "the body is no JSON object")))

(defn- parse-count [text]
  (when (re-matches #"[0-9]{1,7}" text)
    (Long/parseLong text)))

(defn- benchmark [text]
  (let [n (parse-count text)]
    (if (and n (<= n count-max))
      (let [strings (mapv #(str "Index " %) (range n))]
        (response (subvec strings 0 (min 10 n))))
      (bad-request (str "count must be an integer from 0 to " count-max)))))

(defn app [delay-ms]
  (-> (routes
       (GET "/" [] (text "Hello world!"))
       (GET "/api/test" [] (text "Hello, World!"))
       (POST "/test" {body :body} (echo body delay-ms))
       (GET "/test/status" [] (text "OK"))
       (GET "/test/labels/:label" [label] (text label))
       (GET "/framework" [] (response {"Hello" "world"}))
       (GET "/benchmark" {params :params} (benchmark (get params "count" "10000")))
       (route/not-found "Not Found"))
      (wrap-json-body {:bigdecimals? true})
      wrap-json-response
      wrap-params))
