// Loading a part of the console that is not in the first script.
import { reportUnreachable, watched } from '../connection.ts'

const maxAttempts = 30
const retryDelayMs = 1_000

/** Waits for a gateway that restarts: React remembers a failed load for good. */
export async function loadWithRetry<T>(load: () => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt < maxAttempts; attempt++) {
    try {
      return await watched(load())
    } catch {
      reportUnreachable()
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs))
    }
  }
  return load()
}
