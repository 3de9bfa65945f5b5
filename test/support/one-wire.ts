// A gateway whose models have upstreams that speak one text style each, and the sandbox behind them:
// `over-chat` has a chat upstream only, and so on.
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/server.ts'
import { apiToken, startGateway, type TestGateway } from './gateway.ts'

export const wires = ['chat', 'responses', 'messages', 'generate'] as const
export type Wire = (typeof wires)[number]

export const wireKey = 'upk-wire-0123456789abcdef'

export interface OneWireOptions {
  sandbox?: Omit<SandboxOptions, 'key'>
  /** The sandbox takes every key, not only the one above. */
  anyKey?: true
  /** More fields of the channel of a wire. */
  channel?(wire: Wire): object
  /** More fields of its model. */
  model?(wire: Wire): object
  /** More of the configuration file; lists are added to those here. */
  config?: Readonly<Record<string, unknown>>
  env?: Record<string, string>
}

export interface OneWireStage {
  sandbox: Sandbox
  gateway: TestGateway
  stop(): Promise<void>
}

export const modelOver = (wire: Wire): string => `over-${wire}`

const perMillion = { input: '1.00', output: '2.00', cache_read: '0.10', cache_write: '1.25' }

/** The declarations of four models with one channel each. */
export function oneWireConfig(
  { protocols }: Sandbox,
  { channel = () => ({}), model = () => ({}), config = {} }: OneWireOptions = {},
): Record<string, unknown> {
  const own = {
    accounts: [{ name: 'acme', balance: '100.00' }],
    tokens: [{ account: 'acme', name: 'test', token: apiToken }],
    channels: wires.map((wire) => ({
      name: `only-${wire}`,
      keys: [wireKey],
      protocols: { [wire]: protocols[wire] },
      models: { [modelOver(wire)]: 'txta-plus' },
      ...channel(wire),
    })),
    models: wires.map((wire) => ({
      name: modelOver(wire),
      kind: 'text',
      interfaces: [wire],
      ...model(wire),
    })),
    prices: wires.map((wire) => ({
      model: modelOver(wire),
      unit: 'token',
      per_million: perMillion,
    })),
  }
  const lists = Object.entries(own).map(([name, rows]) => {
    const more = config[name]
    return [name, Array.isArray(more) ? [...rows, ...more] : rows]
  })
  return { ...config, ...Object.fromEntries(lists) }
}

export async function startOneWire(options: OneWireOptions = {}): Promise<OneWireStage> {
  const sandbox = startSandbox({ ...options.sandbox, ...(!options.anyKey && { key: wireKey }) })
  const gateway = await startGateway({
    config: JSON.stringify(oneWireConfig(sandbox, options)),
    ...(options.env && { env: options.env }),
  })
  return {
    sandbox,
    gateway,
    async stop() {
      await gateway.stop()
      await sandbox.stop()
    },
  }
}
