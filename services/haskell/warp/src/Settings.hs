-- | What the program is told, by environment variables and by nothing else.
module Settings
  ( Settings(..)
  , settingsFromEnvironment
  ) where

import Data.Char (isDigit)
import Data.Maybe (fromMaybe)
import System.Environment (getEnvironment)

data Settings =
  Settings
    { port :: Int
    , threads :: Int
    , delayMs :: Int
    }

-- | The settings, or which variable will not do.
settingsFromEnvironment :: IO (Either String Settings)
settingsFromEnvironment = settingsFrom <$> getEnvironment

settingsFrom :: [(String, String)] -> Either String Settings
settingsFrom environment =
  Settings <$> integer "PORT" "" (1, 65535) <*> integer "THREADS" "1" (1, 1024) <*> integer "DELAY_MS" "0" (0, 60000)
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
