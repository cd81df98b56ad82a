{-# LANGUAGE OverloadedStrings #-}
{-# OPTIONS_GHC -fno-full-laziness #-}

-- | What the service answers: WAI has no router, a match on method and path is how its users write one.
-- Full laziness is off because it may make a constant of what an answer is made from, and that would be a cache.
module Routes
  ( application
  ) where

import Control.Concurrent (newQSem, signalQSem, threadDelay, waitQSem)
import Control.DeepSeq (deepseq)
import Control.Exception (bracket_)
import Data.Aeson (Object, ToJSON, Value(String), (.=), decode, encode, object)
import qualified Data.Aeson.KeyMap as KeyMap
import qualified Data.ByteString.Char8 as Bytes
import qualified Data.ByteString.Lazy as Lazy
import Data.Text (Text)
import qualified Data.Text as Text
import Data.Text.Encoding (encodeUtf8)
import Network.HTTP.Types
import Network.Wai
import Settings (Settings(..))

-- | The application; it waits as long as the settings say before it answers a message.
application :: Settings -> IO Application
application settings = do
  delay <- makeDelay settings
  pure $ \request respond ->
    case (method request, pathInfo request) of
      ("GET", []) -> respond $ text ok200 "Hello world!"
      ("GET", ["api", "test"]) -> respond $ text ok200 "Hello, World!"
      ("POST", ["test"]) -> echo delay request >>= respond
      ("GET", ["test", "status"]) -> respond $ text ok200 "OK"
      ("GET", ["test", "labels", label]) -> respond $ text ok200 label
      ("GET", ["framework"]) -> respond $ json (object ["Hello" .= ("world" :: Text)])
      ("GET", ["benchmark"]) -> respond $ benchmark (queryString request)
      _ -> respond $ text notFound404 "not found"

-- | Warp leaves the body out of an answer to HEAD.
method :: Request -> Method
method request
  | requestMethod request == methodHead = methodGet
  | otherwise = requestMethod request

-- | Waits for the delay of one message: at most as many at once as there are threads.
makeDelay :: Settings -> IO (IO ())
makeDelay settings
  | delayMs settings == 0 = pure (pure ())
  | otherwise = do
    slots <- newQSem (threads settings)
    pure . bracket_ (waitQSem slots) (signalQSem slots) $ threadDelay (delayMs settings * 1000)

-- | Answers the object it is sent with the member "text" added.
echo :: IO () -> Request -> IO Response
echo delay request = do
  body <- strictRequestBody request
  case decode body :: Maybe Object of
    Nothing -> pure $ text badRequest400 "the body is no JSON object"
    Just message -> do
      delay
      pure . json $ KeyMap.insert "text" (String "received") message

benchmark :: Query -> Response
benchmark query =
  case maybe (Just 10000) (>>= parseCount) (lookup "count" query) of
    Nothing -> text badRequest400 "count must be an integer from 0 to 1000000"
    Just count ->
      let strings = ["Index " <> Text.pack (show i) | i <- [0 .. count - 1]]
       in strings `deepseq` json (take 10 strings)

parseCount :: Bytes.ByteString -> Maybe Int
parseCount digits =
  case Bytes.readInteger digits of
    Just (count, "")
      | 0 <= count
      , count <= 1000000 -> Just (fromInteger count)
    _ -> Nothing

text :: Status -> Text -> Response
text status = responseLBS status [(hContentType, "text/plain; charset=utf-8")] . Lazy.fromStrict . encodeUtf8

json :: ToJSON a => a -> Response
json = responseLBS ok200 [(hContentType, "application/json")] . encode
