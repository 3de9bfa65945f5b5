// The way of an upstream's bytes to callers, without a network: the watcher of the upstream's style, its
// reader, and the writers of all callers' styles at once.
import type { UpstreamError } from '../../src/contract/provider.ts'
import type { TextCall } from '../../src/contract/requests.ts'
import type { TokenUsage } from '../../src/contract/usage.ts'
import { completeUsage } from '../../src/engine/calls/charged-usage.ts'
import { stream as chat } from '../../src/providers/chat/stream.ts'
import { stream as generate } from '../../src/providers/generate/stream.ts'
import { stream as messages } from '../../src/providers/messages/stream.ts'
import { stream as responses } from '../../src/providers/responses/stream.ts'
import type { StreamStyle } from '../../src/providers/text/style.ts'
import { TranslatedStream } from '../../src/providers/text/translated-stream.ts'
import { TextStreamWatcher } from '../../src/providers/text/watch-stream.ts'
import type { StreamWriter } from '../../src/styles/common/answer.ts'
import type { Conversation, StyleName, Tool } from '../../src/styles/common/conversation.ts'
import { conversation, readContext, writeContext } from '../../src/styles/common/test-answers.ts'
import { styles } from '../../src/styles/index.ts'

export const styleNames: readonly StyleName[] = ['chat', 'responses', 'messages', 'generate']

const watched: Readonly<Record<StyleName, StreamStyle>> = { chat, responses, messages, generate }
const upstreamModel = 'up-model'
const inputTokens = 5

/** Each shows reasoning and seals, and asks for usage. */
const asking: Conversation = conversation({ wantsSeals: true, showReasoning: true })
const fields = {
  stream_options: { include_usage: true },
  include: ['reasoning.encrypted_content'],
}

export interface Chain {
  take(bytes: Uint8Array): void
  /** The regular end of the upstream's bytes, or their end in the middle. */
  close(isBroken?: boolean): void
  /** The callers wait for a silent upstream. */
  wait(): void
  /** What each caller has so far, without the end that waits for the charge. */
  passed(): string[]
  /** With the end; the same as before where there is none. */
  all(): string[]
  outcome(): 'finished' | UpstreamError | undefined
  /** As it is charged. */
  usage(): TokenUsage
}

/** What it writes for the callers one after the other is told apart again. */
const border = '\u0000'

/** Writes for all callers, so that one reading serves them all. */
function allWriters(): StreamWriter {
  const writers = styleNames.map((name) =>
    styles[name].newWriter(writeContext({ conversation: asking, fields, inputTokens })),
  )
  const joined = (write: (writer: StreamWriter) => string) => {
    const texts = writers.map(write)
    return texts.every((text) => text === '') ? '' : `${texts.join(border)}${border}`
  }
  return {
    write: (event) => joined((writer) => writer.write(event)),
    keepAlive: () => joined((writer) => writer.keepAlive()),
    end: () => joined((writer) => writer.end()),
  }
}

/** Writes no style: what the writers are given, which is enough to tell whether all of them agree. */
const recorder = (): StreamWriter => ({
  write: (event) => `${JSON.stringify(event)}\n`,
  keepAlive: () => '',
  end: () => 'end\n',
})

function apart(text: string): string[] {
  const pieces = text.split(border)
  return styleNames.map((_, at) => pieces.filter((__, i) => i % styleNames.length === at).join(''))
}

/** `events`: the callers get the events themselves, all in one text. */
export function chainFor(
  from: StyleName,
  tools: readonly Tool[] = [],
  given: 'streams' | 'events' = 'streams',
): Chain {
  const split = given === 'streams' ? apart : (text: string) => [text]
  const call = { model: upstreamModel, wantsUsage: true, choices: 1 } as TextCall
  const watcher = new TextStreamWatcher(watched[from], call, { model: upstreamModel }, 'up_1')
  const charged = () =>
    completeUsage(watcher.reported.usage, inputTokens, () => watcher.countOutputTokens())
  const translated = new TranslatedStream(
    { watcher, upstreamRequestId: 'up_1' },
    styles[from].newReader(readContext(styles[from], [...tools])),
    given === 'streams' ? allWriters() : recorder(),
    ({ usage }) => ({ ...charged(), reasoningTokens: usage?.reasoningTokens ?? 0 }),
  )
  let passed = ''
  return {
    take(bytes) {
      if (translated.outcome !== undefined) return
      passed += Buffer.from(translated.take(bytes) ?? new Uint8Array()).toString()
    },
    close(isBroken = false) {
      if (translated.outcome !== undefined) return
      if (isBroken) translated.break()
      else translated.close()
    },
    wait() {
      passed += Buffer.from(translated.keepAlive()).toString()
    },
    passed: () => split(passed),
    all: () => split(passed + Buffer.from(translated.ending ?? new Uint8Array()).toString()),
    outcome: () => translated.outcome,
    usage: charged,
  }
}
