// The grammar of streams, by the caller's style: every rule that is broken.
import { chatProblems } from '../../src/styles/chat/test-grammar.ts'
import { generateProblem } from '../../src/styles/generate/test-grammar.ts'
import { messagesProblems } from '../../src/styles/messages/test-grammar.ts'
import { responsesProblem } from '../../src/styles/responses/test-grammar.ts'

const grammars: Readonly<Record<string, (stream: string) => readonly string[]>> = {
  chat: chatProblems,
  messages: messagesProblems,
  responses: (stream) => [responsesProblem(stream) ?? []].flat(),
  generate: (stream) => [generateProblem(stream) ?? []].flat(),
}

export const problemsIn = (style: string, stream: string): readonly string[] =>
  grammars[style]!(stream)
