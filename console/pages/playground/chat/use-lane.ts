// One model's side of the conversation: its turns, the answer that is coming in, and what each cost.
import { useRef, useState } from 'react'
import { type Outcome, send } from '../send.ts'
import { afterwards } from '../use-call.ts'
import type { AnswerTurn, SetUp, StyleName, Turn } from './conversation.ts'
import { styles } from './styles/index.ts'

/** What is known of an answer besides its words. */
export interface Report {
  outcome?: Outcome
  charge?: string
  channel?: string
  isStopped?: boolean
  /** It did not come, or not to its end. */
  error?: string
}

export interface Lane {
  turns: readonly Turn[]
  /** By the place of the answer in `turns`. */
  reports: ReadonlyMap<number, Report>
  isBusy: boolean
  /** Says something, or answers calls; without it the last answer is asked for again. */
  ask(asked: Asked, turn?: Turn): Promise<void>
  /** Forgets this turn and all that came after it. */
  cut(at: number): void
  /** Goes on from what another model was told. */
  follow(other: Lane): void
  stop(): void
}

interface Asked {
  style: StyleName
  model: string
  setUp: SetUp
  /** May still be on its way: two lanes share one. */
  secret: Promise<string>
}

const blank = ({ style, model }: Asked): AnswerTurn => ({
  ...{ role: 'assistant', text: '', thinking: '', calls: [], style, model },
})

function answerTurn(asked: Asked, { outcome, error, isStopped }: Report): AnswerTurn {
  const { style, model } = asked
  const { text = '', thinking = '', calls = [], native } = outcome?.answer ?? {}
  const isFailed = error !== undefined || (isStopped === true && text === '')
  return {
    ...{ role: 'assistant', text, thinking, style, model },
    // Half a call cannot be answered.
    calls: isStopped === true ? [] : calls,
    ...(isStopped !== true && native !== undefined && { native }),
    ...(isFailed && { isFailed }),
  }
}

/** Sends the turns; tells of the answer as it grows. */
async function answer(
  { style: name, model, setUp, secret }: Asked,
  turns: readonly Turn[],
  signal: AbortSignal,
  onReport: (report: Report) => void,
): Promise<Report> {
  const style = styles[name]
  let outcome: Outcome | undefined
  const progress = (next: Outcome) => {
    outcome = next
    onReport({ outcome: next })
  }
  try {
    outcome = await send({
      path: style.path(model, setUp.stream),
      token: await secret,
      body: JSON.stringify(style.body(model, setUp, turns)),
      ...{ style, signal, onProgress: progress },
    })
  } catch (cause) {
    if (!signal.aborted) return { ...(outcome && { outcome }), error: (cause as Error).message }
    const known = outcome === undefined ? {} : { outcome, ...(await afterwards(outcome)) }
    return { ...known, isStopped: true }
  }
  const error = outcome.refusal ?? outcome.answer?.error
  onReport({ outcome, ...(error !== undefined && { error }) })
  return {
    outcome,
    ...(error !== undefined && { error }),
    ...(await afterwards(outcome)),
  }
}

/** Without the last answer, and without all that follows a question. */
export const upToQuestion = (turns: readonly Turn[]): readonly Turn[] =>
  turns.slice(0, turns.findLastIndex(({ role }) => role !== 'assistant') + 1)

export function useLane(first: readonly Turn[]): Lane {
  const [turns, setTurns] = useState(first)
  const [reports, setReports] = useState<ReadonlyMap<number, Report>>(new Map())
  const [isBusy, setBusy] = useState(false)
  const stopper = useRef(new AbortController())
  const keep = (sent: readonly Turn[], asked: Asked, report: Report) => {
    setTurns([...sent, answerTurn(asked, report)])
    setReports((before) => new Map(before).set(sent.length, report))
  }
  async function ask(asked: Asked, turn?: Turn): Promise<void> {
    const sent = turn === undefined ? upToQuestion(turns) : [...turns, turn]
    stopper.current = new AbortController()
    setTurns([...sent, blank(asked)])
    setReports((before) => new Map([...before].filter(([at]) => at < sent.length)))
    setBusy(true)
    const onReport = (report: Report) => keep(sent, asked, report)
    keep(sent, asked, await answer(asked, sent, stopper.current.signal, onReport))
    setBusy(false)
  }
  const cut = (at: number) => {
    setTurns(turns.slice(0, at))
    setReports(new Map([...reports].filter(([each]) => each < at)))
  }
  const follow = (other: Lane) => {
    setTurns(other.turns)
    setReports(new Map())
  }
  return { turns, reports, isBusy, ask, cut, follow, stop: () => stopper.current.abort() }
}

/** Calls of the last answer that wait for what the functions return. */
export function openCalls({ turns, isBusy }: Lane): AnswerTurn['calls'] {
  const last = turns.at(-1)
  return !isBusy && last?.role === 'assistant' && last.isFailed !== true ? last.calls : []
}
