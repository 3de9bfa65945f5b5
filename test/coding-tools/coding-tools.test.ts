// Real coding tools, installed from their registries and set up as the guide says, finish a tool loop
// over upstreams that speak one style only: they read a file, edit it and run a command. Heavy, so only
// on request: TEST_CODING_TOOLS=1, or the names of some tools.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelOver, type OneWireStage, startOneWire, type Wire } from '../support/one-wire.ts'
import { accountOf, ledgerOf, listAll, nanos, type RequestRow } from '../support/read.ts'
import { sections } from './guide.ts'
import { install } from './install.ts'
import { newProject, type Project, type Ran, runTool } from './run-tool.ts'
import { type CodingTool, codingTools, promptFor, work } from './tools.ts'

const installLimitMs = 900_000
const credit = '100.00'
const upstreamModel = 'txta-plus'
const perMillion = { input: '1.00', output: '2.00', cache_read: '0.10', cache_write: '1.25' }

const wanted = (process.env['TEST_CODING_TOOLS'] ?? '').toLowerCase().split(',')
const isWanted = ({ name }: CodingTool): boolean =>
  wanted.some((each) => each === '1' || (each !== '' && name.toLowerCase().includes(each)))
const chosen = codingTools.filter(isWanted)
const left = new Set(codingTools.filter((tool) => !isWanted(tool)).map(({ name }) => name))
if (left.size > 0) {
  const names = [...left].join(', ')
  console.error(`left out: tool loops of ${names} (TEST_CODING_TOOLS=1, which downloads them)`)
}

/** Each run has an account and a token of its own, so that its requests are told from others. */
const accountFor = ({ name, variant = '' }: CodingTool, wire: Wire): string =>
  `${name} ${variant} ${wire}`.toLowerCase().replaceAll(/\W+/g, '-')
const tokenFor = (account: string): string => `sk-${account}-0123456789abcdef`
const titleOf = ({ name, variant }: CodingTool): string =>
  variant === undefined ? name : `${name}, ${variant}`
const modelFor = (tool: CodingTool, wire: Wire): string => tool.model?.(wire) ?? modelOver(wire)

let stage: OneWireStage
beforeAll(async () => {
  if (chosen.length === 0) return
  const names = chosen.flatMap((tool) => tool.over.map((wire) => accountFor(tool, wire)))
  const named = chosen.filter(({ model }) => model !== undefined)
  const models = named.flatMap((tool) =>
    tool.over.map((wire) => ({ name: modelFor(tool, wire), wire })),
  )
  stage = await startOneWire({
    channel: (wire) => ({
      models: Object.fromEntries(
        [
          modelOver(wire),
          ...models.filter((each) => each.wire === wire).map(({ name }) => name),
        ].map((name) => [name, upstreamModel]),
      ),
    }),
    config: {
      accounts: names.map((name) => ({ name, balance: credit })),
      tokens: names.map((name) => ({ account: name, name, token: tokenFor(name) })),
      models: models.map(({ name, wire }) => ({ name, kind: 'text', interfaces: [wire] })),
      prices: models.map(({ name }) => ({ model: name, unit: 'token', per_million: perMillion })),
    },
  })
})
afterAll(() => stage?.stop())

interface LoggedCall extends RequestRow {
  translation?: string
}

/** Every call succeeded, over the one wire, and the account has paid for it. */
async function expectPaid({ speaks }: CodingTool, wire: Wire, account: string): Promise<void> {
  const { gateway } = stage
  const rows = await listAll<LoggedCall>(gateway, `/requests?account=${account}`)
  const path = speaks === wire ? undefined : `${speaks}>${wire}`
  const expected = { interface: speaks, status: 200, error_code: null, ending: 'complete' }
  for (const row of rows) expect(row).toMatchObject(expected)
  expect(rows.map(({ translation }) => translation)).toEqual(rows.map(() => path))
  const charges = rows.reduce((sum, { charge }) => sum + nanos(charge), 0n)
  expect(charges).toBeGreaterThan(0n)
  const entries = await ledgerOf(gateway, account)
  expect(entries.filter(({ kind }) => kind === 'charge')).toHaveLength(rows.length)
  const { balance, held } = await accountOf(gateway, account)
  expect([nanos(balance), nanos(held)]).toEqual([nanos(credit) - charges, 0n])
}

async function runOver(tool: CodingTool, wire: Wire, project: Project): Promise<Ran> {
  const section = sections().find(({ name }) => name === tool.name)!
  return runTool(tool, section, project, {
    url: stage.gateway.url,
    model: modelFor(tool, wire),
    prompt: promptFor(tool, project.folder, wire),
    token: tokenFor(accountFor(tool, wire)),
    programs: await install(section, tool.needs),
  })
}

describe.each(chosen.map((tool) => [titleOf(tool), tool] as const))('%s', (_, tool) => {
  beforeAll(async () => {
    await install(sections().find(({ name }) => name === tool.name)!, tool.needs)
  }, installLimitMs)

  const can = tool.steps === undefined ? 'answers a question' : 'reads, edits and runs a command'
  test.each(tool.over)(`${can} over an upstream that speaks only %s`, async (wire) => {
    const project = newProject()
    const since = stage.sandbox.asked().at(-1)?.number
    const ran = await runOver(tool, wire, project)
    expect(ran).toMatchObject({ code: 0 })
    await expectPaid(tool, wire, accountFor(tool, wire))
    const asked = stage.sandbox.asked(since)
    expect(asked.some(({ body }) => body?.includes(work.before.trim()))).toBe(true)
    if (tool.steps === undefined) return
    expect(ran.output).toContain(work.after.trim())
    const read = (name: string) => readFileSync(join(project.folder, name), 'utf8')
    expect([read(work.file), read(work.copy)]).toEqual([work.after, work.after])
  })
})
