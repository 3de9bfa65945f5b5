// The doctor's findings: one row per check, and how rows are printed.

type State = 'ok' | 'warning' | 'problem' | 'left out'

export interface Finding {
  /** What was checked, in a word or two. */
  check: string
  state: State
  says: string
  /** What to do about it. */
  advice?: string
}

export const ok = (check: string, says: string): Finding => ({ check, state: 'ok', says })

export const leftOut = (check: string, says: string): Finding => ({
  check,
  state: 'left out',
  says,
})

export const warning = (check: string, says: string, advice: string): Finding => ({
  check,
  state: 'warning',
  says,
  advice,
})

export const problem = (check: string, says: string, advice: string): Finding => ({
  check,
  state: 'problem',
  says,
  advice,
})

/** Names come from files and databases: their escape sequences must not reach the terminal. */
const printable = (text: string): string =>
  text
    .replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

export function reportText(findings: readonly Finding[]): string {
  const widthOf = (texts: readonly string[]) => Math.max(...texts.map((each) => each.length))
  const states = widthOf(findings.map(({ state }) => state))
  const checks = widthOf(findings.map(({ check }) => check))
  const lines = findings.flatMap(({ check, state, says, advice }) => [
    `${state.padEnd(states)}  ${check.padEnd(checks)}  ${printable(says)}`,
    ...(advice === undefined ? [] : [`${' '.repeat(states + checks + 4)}-> ${printable(advice)}`]),
  ])
  const count = (state: State) => findings.filter((each) => each.state === state).length
  const [problems, warnings] = [count('problem'), count('warning')]
  const verdict =
    problems > 0
      ? `${problems} to be put right, ${warnings} to think about`
      : warnings > 0
        ? `nothing is wrong, ${warnings} to think about`
        : 'nothing is wrong'
  return `${lines.join('\n')}\n\n${verdict}\n`
}
