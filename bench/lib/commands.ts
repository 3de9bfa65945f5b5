// The input of a program of the bench: one JSON command per line, one line of JSON per result.

import { createInterface } from 'node:readline'

type Result = object | undefined

/** Handles commands one after the other and ends the process with its input. */
export async function serveCommands<Command>(
  handle: (command: Command) => Result | Promise<Result>,
): Promise<never> {
  for await (const line of createInterface({ input: process.stdin })) {
    const result = await handle(JSON.parse(line) as Command)
    if (result !== undefined) console.log(JSON.stringify(result))
  }
  process.exit(0)
}
