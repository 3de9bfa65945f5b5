// How a command ends early: one sentence for stderr and an exit code.

/** 69 is EX_UNAVAILABLE of sysexits.h. */
export const exitCodes = { ok: 0, refused: 1, usage: 2, unreachable: 69 } as const
type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Ends the command with one sentence on stderr. Thrown anywhere, caught once, in main. */
export class Stop extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/** The gateway answered, and not with a success. */
export class Refused extends Stop {
  readonly status: number

  constructor(message: string, status: number) {
    super(exitCodes.refused, message)
    this.status = status
  }
}

export const misuse = (message: string): Stop => new Stop(exitCodes.usage, message)
