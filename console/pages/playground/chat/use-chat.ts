// The state of the chat tab: set-up, what is typed, one lane or two, and the request that comes next.
import { useEffect, useState } from 'react'
import { useQueryValue } from '../../../lib/router.tsx'
import { conversationDraft, keepConversation } from '../request/drafts.ts'
import type { Endpoint } from '../request/endpoints.ts'
import { useModels } from '../request/options.ts'
import type { Payer } from '../request/payer.tsx'
import type { Preset } from '../request/presets.ts'
import {
  type Conversation,
  conversationFrom,
  emptySetUp,
  problemsIn,
  type SetUp,
  type StyleName,
  type Turn,
  type UserTurn,
  withoutImages,
} from './conversation.ts'
import { styles } from './styles/index.ts'
import { type Lane, upToQuestion, useLane } from './use-lane.ts'

const hello = 'Hello! Who are you?'

function readConversation(preset: Preset | undefined): Conversation {
  try {
    const read = conversationFrom(JSON.parse(preset?.text ?? 'null'))
    if (read !== undefined) return read
  } catch {
    // As if there were none.
  }
  return { setUp: emptySetUp, prompt: hello, lanes: [] }
}

/** Which models are asked: the chosen one, and beside it the other one. */
function useAskedModels(
  endpoint: Endpoint,
  begin: Preset | undefined,
  stored: Preset | undefined,
  account: string | null,
) {
  const { names, isLoading, first, remember } = useModels(endpoint, account)
  const [linked] = useQueryValue('model')
  const [wanted, setModel] = useState<string | null>(
    begin?.model ?? linked ?? stored?.model ?? null,
  )
  const [other, setOther] = useState<string | null>((begin ?? stored)?.other ?? null)
  const known = (name: string | null) => (name !== null && names.includes(name) ? name : undefined)
  const model = known(wanted) ?? first
  const second =
    other === null ? undefined : (known(other) ?? names.find((name) => name !== model) ?? model)
  const models = [model, second].filter((each) => each !== undefined)
  return { names, isLoading, wanted, other, models, setModel, setOther, remember }
}

/** Fills the field for what comes next. */
type Compose = (text: string, images: readonly string[]) => void

/** What is set and said, from where it was left or from a link. */
function useConversation(stored: Preset | undefined, isCompared: boolean) {
  const [first] = useState(() => readConversation(stored))
  const [setUp, setSetUp] = useState(first.setUp)
  const [prompt, setPrompt] = useState(first.prompt)
  const [images, setImages] = useState<readonly string[]>([])
  const both = [useLane(first.lanes[0] ?? []), useLane(first.lanes[1] ?? [])]
  const lanes = isCompared ? both : both.slice(0, 1)
  const compose: Compose = (text, shown) => {
    setPrompt(text)
    setImages(shown)
  }
  /** The second model begins where the first one is. */
  const begin = () => both[1]!.follow(both[0]!)
  const isBusy = both.some((lane) => lane.isBusy)
  return { setUp, setSetUp, prompt, setPrompt, images, setImages, lanes, isBusy, begin, compose }
}

/** Not on every event of a stream. */
function useStoredDraft(preset: Preset, isBusy: boolean): void {
  const text = JSON.stringify(preset)
  useEffect(() => {
    if (!isBusy) keepConversation(JSON.parse(text) as Preset)
  }, [isBusy, text])
}

export type Chat = ReturnType<typeof useChat>

export function useChat(endpoint: Endpoint, begin: Preset | undefined, payer: Payer) {
  const style = styles[endpoint.use as StyleName]
  const { title } = endpoint
  const [stored] = useState(() => begin ?? conversationDraft())
  const chosen = useAskedModels(endpoint, begin, stored, payer.account)
  const { models, wanted, other } = chosen
  const talk = useConversation(stored, other !== null)
  const { setUp, prompt, images, lanes, isBusy } = talk
  const conversation: Conversation = { setUp, prompt, lanes: lanes.map(({ turns }) => turns) }
  const presetOf = (what: Conversation, names: readonly (string | null | undefined)[]): Preset => ({
    ...{ title, isConversation: true, text: JSON.stringify(what) },
    ...(typeof names[0] === 'string' && { model: names[0] }),
    ...(typeof names[1] === 'string' && { other: names[1] }),
  })
  useStoredDraft(presetOf(conversation, [wanted, other]), isBusy)
  const said: UserTurn = { role: 'user', text: prompt, images }
  const isReady =
    payer.isReady && models.length === lanes.length && !isBusy && !isEmpty(said) && isRight(setUp)
  const ask = (at: number, turn?: Turn, secret = payer.secret()) => {
    const model = models[at]
    if (model !== undefined) void lanes[at]?.ask({ style: style.name, model, setUp, secret }, turn)
  }
  const send = () => {
    if (!isReady) return
    if (models[0] !== undefined) chosen.remember(models[0])
    const secret = payer.secret()
    for (const at of lanes.keys()) ask(at, said, secret)
    talk.compose('', [])
  }
  return {
    ...{ ...chosen, ...talk, style, isReady, ask, send },
    ...laneActions(lanes, talk.compose),
    setCompared(isCompared: boolean) {
      if (isCompared) talk.begin()
      chosen.setOther(isCompared ? '' : null)
    },
    preset: () => presetOf(withoutImages(conversation), models),
    ...nextRequest(style, setUp, models[0] ?? '', conversation.lanes[0] ?? [], said),
  }
}

const isEmpty = ({ text, images }: UserTurn): boolean => text.trim() === '' && images.length === 0

const isRight = (setUp: SetUp): boolean => Object.keys(problemsIn(setUp)).length === 0

const laneActions = (lanes: readonly Lane[], compose: Compose) => ({
  stop() {
    for (const lane of lanes) lane.stop()
  },
  clear() {
    for (const lane of lanes) lane.cut(0)
  },
  /** Puts what was said back into the field, to be said in other words. */
  editFrom(at: number) {
    const turn = lanes[0]?.turns[at]
    if (turn?.role !== 'user') return
    compose(turn.text, turn.images)
    lanes[0]?.cut(at)
  },
})

/** What would be sent now; without a new question, what was sent last. */
function nextRequest(
  style: (typeof styles)[StyleName],
  setUp: SetUp,
  model: string,
  turns: readonly Turn[],
  said: UserTurn,
) {
  const path = style.path(model, setUp.stream)
  try {
    const body = style.body(model, setUp, isEmpty(said) ? upToQuestion(turns) : [...turns, said])
    const { model: _, ...bodyOnly } = body
    // Images are not counted by their letters.
    const estimated = JSON.stringify(body).replace(/[\w+/=]{2000,}/g, '')
    return { path, body, bodyOnly, estimated }
  } catch {
    return { path, body: {}, bodyOnly: {}, estimated: '' }
  }
}
