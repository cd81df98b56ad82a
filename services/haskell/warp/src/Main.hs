{-# LANGUAGE OverloadedStrings #-}

-- | The contracts of Tare on Warp: a plain WAI application.
module Main
  ( main
  ) where

import Control.Concurrent (newEmptyMVar, putMVar, setNumCapabilities, takeMVar, threadDelay)
import Control.Concurrent.Async (race_)
import Control.Exception (IOException, handle)
import Control.Monad (void)
import Data.Function ((&))
import Data.String (fromString)
import qualified Network.Wai.Handler.Warp as Warp
import Routes (application)
import Settings (Settings(..), settingsFromEnvironment)
import System.Environment (getArgs)
import System.Exit (ExitCode(..), exitWith)
import System.IO (hPutStrLn, stderr)
import System.Posix.Signals (Handler(CatchOnce), installHandler, sigTERM)

-- | How long requests in flight may take to end after SIGTERM, in microseconds.
grace :: Int
grace = 250000

-- | In seconds.
day :: Int
day = 86400

main :: IO ()
main = do
  arguments <- getArgs
  if arguments == ["--version"]
    then putStrLn Warp.warpVersion
    else settingsFromEnvironment >>= either (failWith 2) serve

-- | Answers requests until SIGTERM arrives. What is still open after the grace ends with the program.
serve :: Settings -> IO ()
serve settings = do
  setNumCapabilities (threads settings)
  app <- application settings
  ended <- newEmptyMVar
  let finish closeSocket = closeSocket >> threadDelay grace >> putMVar ended ()
      onSigterm closeSocket = void $ installHandler sigTERM (CatchOnce (finish closeSocket)) Nothing
  handle cannotListen . race_ (takeMVar ended) $ Warp.runSettings (warpSettings settings onSigterm) app
  where
    cannotListen :: IOException -> IO ()
    cannotListen e = failWith 1 ("cannot listen on " <> address <> ": " <> show e)
    address = show (serveOn settings) <> ":" <> show (port settings)

warpSettings :: Settings -> (IO () -> IO ()) -> Warp.Settings
warpSettings settings installShutdownHandler =
  Warp.defaultSettings & Warp.setHost (fromString (show (serveOn settings))) & Warp.setPort (port settings) &
  Warp.setTimeout day &
  Warp.setInstallShutdownHandler installShutdownHandler

failWith :: Int -> String -> IO a
failWith status message = hPutStrLn stderr message >> exitWith (ExitFailure status)
