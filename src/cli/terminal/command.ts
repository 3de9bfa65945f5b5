// The words of the command line: what a command is, what it is given, what it hands back.
// It knows no command and prints nothing.
import type { Admin } from './admin-client.ts'
import type { Line } from './line.ts'

interface Flag {
  summary: string
  /** Placeholder of the value in help; a flag without one is a switch. */
  value?: string
  many?: true
  required?: true
}
export type Flags = Readonly<Record<string, Flag>>

export type Env = Readonly<Record<string, string | undefined>>

export interface Context {
  line: Line
  admin: Admin
  /** Base address of the gateway, without a slash at the end. */
  url: string
  env: Env
  json: boolean
  /** For answers that appear bit by bit; everything else is returned as an Outcome. */
  write(text: string): void
}

export interface Outcome {
  /** The gateway's answer as it came: the whole output under --json. */
  answer: unknown
  /** The same for a person. */
  text: string
  /** An aside for a person, on stderr. */
  note?: string
  /** False: the command was carried out and the answer is "not ok". */
  ok?: boolean
}

export interface Command {
  path: readonly string[]
  /** Names of the positional arguments; one in brackets may be left out. */
  args: readonly string[]
  summary: string
  flags: Flags
  run(context: Context): Promise<Outcome>
}

export const commonFlags: Flags = {
  json: { summary: "print the gateway's JSON answer and nothing else" },
  url: { value: 'URL', summary: 'address of the gateway (or GATEWAY_URL)' },
  'admin-token': {
    value: 'TOKEN',
    summary: 'or GATEWAY_ADMIN_TOKEN, or the file admin-token in GATEWAY_DATA_DIR',
  },
  help: { summary: 'show help, also -h' },
}

export const pageFlags: Flags = {
  limit: { value: 'N', summary: 'rows at most' },
  cursor: { value: 'CURSOR', summary: 'go on where the last list ended' },
  out: { value: 'FILE', summary: 'save the whole list: FILE.csv, or FILE.jsonl for programs' },
}
