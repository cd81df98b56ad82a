-- | What the program is told, by environment variables and by nothing else.
module Settings
  ( Settings(..)
  , settingsFromEnvironment
  ) where

import Data.Char (isDigit)
import Data.IP (IPv4, toIPv4)
import Data.Maybe (fromMaybe)
import System.Environment (getEnvironment)
import Text.Read (readMaybe)

data Settings =
  Settings
    { port :: Int
    , serveOn :: IPv4
    , threads :: Int
    , delayMs :: Int
    }

-- | The settings, or which variable will not do.
settingsFromEnvironment :: IO (Either String Settings)
settingsFromEnvironment = settingsFrom <$> getEnvironment

settingsFrom :: [(String, String)] -> Either String Settings
settingsFrom environment =
  Settings <$> integer "PORT" "" (1, 65535) <*> address <*> integer "THREADS" "1" (1, 1024) <*>
  integer "DELAY_MS" "0" (0, 60000)
  where
    integer :: String -> String -> (Int, Int) -> Either String Int
    integer name fallback (low, high)
      | isNumber text
      , low <= read text
      , read text <= high = Right (read text)
      | otherwise = Left (name <> " must be an integer from " <> show low <> " to " <> show high)
      where
        text = fromMaybe fallback (lookup name environment)
    isNumber text = not (null text) && length text <= 9 && all isDigit text
    address :: Either String IPv4
    address =
      case fromMaybe "" (lookup "SERVE_ON" environment) of
        "" -> Right (toIPv4 [127, 0, 0, 1])
        text
          | Just parsed <- readMaybe text
          -- What `readMaybe` takes may have spaces around it.
          , show parsed == text -> Right parsed
          | otherwise -> Left ("SERVE_ON must be an IPv4 address, such as 0.0.0.0, not " <> show text)
