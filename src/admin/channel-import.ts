// Channels from a YAML text in the words of gateway.yaml, as an export writes them: first what would
// change, then all of it or nothing. Keys that are only kept places leave a channel's own keys alone.
import { isDeepStrictEqual } from 'node:util'
import { LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import {
  type ChannelDeclaration,
  channelDeclaration,
  checkDeclaration,
  settingName,
} from '../contract/declarations.ts'
import { Refusal, refuse } from '../contract/errors.ts'
import type { Engine } from '../engine/engine.ts'
import { announce } from '../engine/refresh.ts'
import type { Exchange } from '../http/exchange.ts'
import { newShortId } from '../lib/ids.ts'
import { insertChannel } from '../store/channels.ts'
import { isUniqueConflict, type Tx } from '../store/index.ts'
import {
  changeChannel,
  find,
  fromDeclaration,
  merged,
  misplaced,
  notOurs,
  sealed,
  storedView,
  unacceptable,
} from './channels.ts'
import { maxImportBytes, noteChange, type Resource, readBody, route } from './route.ts'

export const importBody = z.strictObject({ yaml: z.string(), dry_run: z.boolean().optional() })

const mostChannels = 200
const maxAliases = 100
/** Stands in an export where a key was. */
const keptPlace = 'PUT_THE_KEY_HERE'

const { keys, ...rest } = channelDeclaration.shape
const imported = z.strictObject({ ...rest, keys: keys.optional() })
type Imported = z.infer<typeof imported>
const importedFile = z.strictObject({ channels: z.array(imported).min(1).max(mostChannels) })

interface Planned {
  name: string
  change: 'new' | 'changed' | 'same' | 'skipped' | 'refused'
  fields: { field: string; before: unknown; after: unknown }[]
  problem: string | null
}

export const channelImport: Resource = (app, deps) => {
  const { engine } = deps

  app.post(
    '/channels/import',
    route(async (_, x) => {
      const body = await readBody(x, deps, importBody, maxImportBytes)
      if (body instanceof Refusal) return body
      const declared = readChannels(body.yaml)
      if (declared instanceof Refusal) return declared
      const plan = declared.map((each) => planOf(engine, each, x.atMs))
      if (body.dry_run === true) return { saved: false, channels: plan }
      const wrong = plan.find(({ change }) => change === 'refused')
      if (wrong !== undefined) return refused(`channel '${wrong.name}': ${wrong.problem}`)
      const failed = await saveAll(engine, x, declared, plan)
      return failed ?? { saved: true, channels: plan }
    }),
  )
}

const refused = (message: string): Refusal => refuse('invalid_request', message, { param: 'yaml' })

/** `channels:` and a list as in gateway.yaml, or the list alone. */
function readChannels(text: string): Imported[] | Refusal {
  const lines = new LineCounter()
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  const broken = doc.errors[0] ?? doc.warnings[0]
  if (broken !== undefined) {
    return refused(`line ${lines.linePos(broken.pos[0]).line} is not YAML`)
  }
  let value: unknown
  try {
    value = doc.toJS({ maxAliasCount: maxAliases })
  } catch {
    return refused('the text has too many aliases')
  }
  const checked = checkDeclaration(
    importedFile,
    Array.isArray(value) ? { channels: value } : (value ?? {}),
  )
  if ('problems' in checked) {
    const { path, message } = checked.problems.toSorted((a, b) => +b.unknownKey - +a.unknownKey)[0]!
    return refused(`${settingName(path) || 'the text'} ${message}`)
  }
  const { channels } = checked.value
  const twice = channels.find(({ name }, i) => channels.some((c, j) => j < i && c.name === name))
  if (twice !== undefined) return refused(`channel '${twice.name}' is there twice`)
  return channels.map(withoutPlaces)
}

function withoutPlaces({ keys: given, ...channel }: Imported): Imported {
  const real = given?.filter((key) => key !== keptPlace) ?? []
  return real.length === 0 ? channel : { ...channel, keys: real }
}

function planOf(engine: Engine, declared: Imported, atMs: number): Planned {
  const { name } = declared
  const plan = (
    change: Planned['change'],
    problem: string | null,
    fields: Planned['fields'] = [],
  ) => ({ name, change, fields, problem }) satisfies Planned
  const found = find(engine, name)
  if (found === undefined) {
    if (declared.keys === undefined) return plan('refused', 'a new channel needs its keys')
    const made = fromDeclaration(engine, declared as ChannelDeclaration, '')
    const problem = misplaced(engine, sealed(engine, made, atMs))
    const fields = differing({}, storedView(sealed(engine, made, atMs)), false)
    return problem === undefined ? plan('new', null, fields) : plan('refused', problem.message)
  }
  if (found.source !== 'api') return plan('skipped', notOurs(found).message)
  const before = { ...found, keyCiphertexts: found.keys, createdAtMs: atMs, updatedAtMs: atMs }
  const after = merged(engine, before, declared, atMs)
  const problem = unacceptable(engine, before, after, declared)
  if (problem !== undefined) return plan('refused', problem.message)
  const hasKeys = declared.keys !== undefined
  const fields = differing(storedView(before), storedView(after), hasKeys)
  return plan(fields.length === 0 ? 'same' : 'changed', null, fields)
}

/** Of no interest to whoever compares two texts. */
const unseen: ReadonlySet<string> = new Set(['id', 'name', 'source', 'disabled'])

function differing(before: object, after: object, hasKeys: boolean): Planned['fields'] {
  const was: Readonly<Record<string, unknown>> = { ...before }
  return Object.entries(after).flatMap(([field, value]) => {
    if (unseen.has(field)) return []
    // New keys look like the old ones from outside.
    const isSame = isDeepStrictEqual(was[field], value) && !(hasKeys && field === 'keys')
    return isSame ? [] : [{ field, before: was[field] ?? null, after: value }]
  })
}

async function saveAll(
  engine: Engine,
  x: Exchange,
  declared: readonly Imported[],
  plan: readonly Planned[],
): Promise<Refusal | undefined> {
  try {
    await engine.store.tx(async (tx) => {
      for (const [i, each] of declared.entries()) {
        const { change } = plan[i]!
        if (change === 'new') await addDrained(engine, tx, x, each)
        if (change !== 'changed') continue
        const changed = await changeChannel(engine, tx, x, find(engine, each.name)!.id, each)
        if (changed instanceof Refusal) throw changed
      }
    })
  } catch (error) {
    if (error instanceof Refusal) return error
    if (!isUniqueConflict(error)) throw error
    return refuse('conflict', 'a channel of that name was added meanwhile', { param: 'yaml' })
  }
  await announce(engine)
  return undefined
}

/** It was not tried yet. */
async function addDrained(engine: Engine, tx: Tx, x: Exchange, declared: Imported): Promise<void> {
  const id = newShortId('chn', x.atMs)
  const made = fromDeclaration(engine, declared as ChannelDeclaration, id)
  const channel = sealed(engine, { ...made, disabled: true }, x.atMs)
  await insertChannel(tx, channel)
  const after = storedView(channel)
  await noteChange(tx, x, { action: 'channel.create', subject: id, after })
}
