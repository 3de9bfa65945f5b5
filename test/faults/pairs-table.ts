// The fault table for calls that are translated: every row at an upstream of one style, asked by callers
// of each of the others. All cases of a pair share an account.
import { canary, type Fault, type Mode, type Place } from './fault.ts'
import { type Style, streaming, styles } from './styles.ts'

export interface PairCase {
  title: string
  fault: Fault
  /** The upstream's. */
  style: Style
  caller: Style
  mode: Mode
  model: string
  account: string
  token: string
}

const pairs = streaming.flatMap((caller) =>
  streaming.filter((style) => style !== caller).map((style) => [caller, style] as const),
)
export const accounts = pairs.map(([caller, style]) => `${caller}-over-${style}`)
const tokenOf = (account: string): string => `sk-pair-${account.padEnd(24, '0')}`

export function pairCasesOf(faults: readonly Fault[]): PairCase[] {
  const cases: PairCase[] = []
  for (const fault of faults) {
    for (const [caller, style] of pairs) {
      if (!fault.styles.includes(style)) continue
      for (const mode of fault.modes) {
        const account = `${caller}-over-${style}`
        cases.push({
          title: `${fault.row} ${account} ${mode}: ${fault.name}`,
          fault,
          style: styles[style],
          caller: styles[caller],
          mode,
          model: `p-${cases.length}`,
          account,
          token: tokenOf(account),
        })
      }
    }
  }
  return cases
}

export const balance = '100.00'

/** `addressOf`: base address without path, for the place a channel leads to. */
export const pairConfig = (
  cases: readonly PairCase[],
  addressOf: (place: Place | undefined) => string,
): string =>
  JSON.stringify({
    accounts: accounts.map((name) => ({ name, balance })),
    tokens: accounts.map((account) => ({ account, name: 'test', token: tokenOf(account) })),
    channels: cases.map(({ model, style, fault }) => ({
      name: `c-${model}`,
      keys: [canary],
      protocols: { [style.name]: addressOf(fault.at) + style.basePath },
      models: { [model]: '*' },
      ...(fault.timeouts !== undefined && { timeouts: fault.timeouts }),
    })),
    models: cases.map(({ model, style }) => ({
      name: model,
      kind: 'text',
      interfaces: [style.name],
    })),
    prices: cases.map(({ model }) => ({
      model,
      unit: 'token',
      per_million: { input: '1.00', output: '2.00' },
    })),
  })
