// Channels from a YAML text in the words of gateway.yaml, as an export writes them: first what would
// change, then all of it or nothing. Keys that are only kept places leave a channel's own keys alone.
import { isDeepStrictEqual } from 'node:util'
import type { ChannelDeclaration } from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { announce, type CatalogDeps, noTokens } from '../../engine/catalog/refresh.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { insertChannel } from '../../store/catalog/channels.ts'
import { isUniqueConflict, type Tx } from '../../store/index.ts'
import { auditChange } from '../answers.ts'
import { forOperators } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { maxImportBytes } from '../serve.ts'
import { channelImport, importRequest, type plannedChannel } from './channel-schema.ts'
import {
  type ChannelDeps,
  changeChannel,
  find,
  fromDeclaration,
  merged,
  misplaced,
  notOurs,
  sealed,
  storedView,
  unacceptable,
} from './channel-store.ts'
import { readAside } from './read-aside.ts'
import type { ImportedChannel } from './read-channels.ts'

type Planned = View<typeof plannedChannel>

async function importChannels({ engine, body, x }: Ask<{ body: typeof importRequest }>) {
  const read = await readAside('channels', body.yaml, 'yaml')
  if (read instanceof Refusal) return read
  if ('problem' in read) return refused(read.problem)
  const declared = read.channels
  const plan = declared.map((each) => planOf(engine, each, x.atMs))
  if (body.dry_run === true) return { saved: false, channels: plan }
  const wrong = plan.find(({ change }) => change === 'refused')
  if (wrong !== undefined) return refused(`channel '${wrong.name}': ${wrong.problem}`)
  const failed = await saveAll(engine, x, declared, plan)
  return failed ?? { saved: true, channels: plan }
}

const refused = (message: string): Refusal => refuse('invalid_request', message, { param: 'yaml' })

function planOf(engine: ChannelDeps, declared: ImportedChannel, atMs: number): Planned {
  const { name } = declared
  const plan = (
    change: Planned['change'],
    problem: string | null,
    fields: Planned['fields'] = [],
  ) => ({ name, change, fields, problem }) satisfies Planned
  const found = find(engine, name)
  if (found === undefined) {
    if (declared.keys === undefined && declared.auth === undefined) {
      return plan('refused', 'a new channel needs its keys')
    }
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
  const hasKeys = declared.keys !== undefined || declared.auth !== undefined
  const fields = differing(storedView(before), storedView(after), hasKeys)
  return plan(fields.length === 0 ? 'same' : 'changed', null, fields)
}

/** Of no interest when two texts are compared. */
const hidden: ReadonlySet<string> = new Set(['id', 'name', 'source', 'disabled'])

function differing(before: object, after: object, hasKeys: boolean): Planned['fields'] {
  const was: Readonly<Record<string, unknown>> = { ...before }
  return Object.entries(after).flatMap(([field, value]) => {
    if (hidden.has(field)) return []
    // New keys look like the old ones from outside.
    const isSame = isDeepStrictEqual(was[field], value) && !(hasKeys && field === 'keys')
    return isSame ? [] : [{ field, before: was[field] ?? null, after: value }]
  })
}

async function saveAll(
  engine: ChannelDeps & CatalogDeps,
  x: RequestContext,
  declared: readonly ImportedChannel[],
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
  await announce(engine, noTokens)
  return undefined
}

/** It was not tried yet. */
async function addDrained(
  engine: ChannelDeps,
  tx: Tx,
  x: RequestContext,
  declared: ImportedChannel,
): Promise<void> {
  const id = newShortId('chn', x.atMs)
  const made = fromDeclaration(engine, declared as ChannelDeclaration, id)
  const channel = sealed(engine, { ...made, disabled: true }, x.atMs)
  await insertChannel(tx, channel)
  const after = storedView(channel)
  await auditChange(tx, x, { action: 'channel.create', subject: id, after })
}

const route = routesOf({ tag: 'Channels', thing: 'channel', permission: forOperators })

export const channelImportRoutes = [
  route('POST /channels/import', {
    id: 'importChannels',
    summary: 'Add and change channels by a YAML text',
    description:
      'In the words of gateway.yaml, all or nothing. With `dry_run` only what would change. Keys ' +
      'that are left out, or are `PUT_THE_KEY_HERE`, stay as they are; new channels begin drained.',
    body: importRequest,
    maxBodyBytes: maxImportBytes,
    examples: {
      preview: {
        yaml:
          'channels:\n  - name: example-import\n    keys: [an-upstream-key]\n' +
          '    protocols: { chat: https://up.example/v1 }\n    models: { txta-plus: "*" }\n',
        dry_run: true,
      },
    },
    answer: channelImport,
    returns: 'Each channel, and what changes.',
    refusals: ['conflict', 'not_found'],
    handle: importChannels,
  }),
]
