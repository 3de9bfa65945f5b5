// Chat completions: JSON and stream.
import { Refusal } from '../../contract/errors.ts'
import { newRecord, recordUnbilled } from '../../engine/call-record.ts'
import type { Engine } from '../../engine/engine.ts'
import { runText } from '../../engine/run-text.ts'
import { answerJson, answerStream, type Exchange } from '../../http/exchange.ts'
import { type BodyLimits, readJsonObject } from '../../http/read-json.ts'
import { answerRefusal } from '../../http/render-error.ts'
import { Caller, callerOf, type Surface } from '../surface.ts'
import { parseChat } from './parse.ts'

export const chat: Surface = {
  name: 'chat',
  mount(_, { engine, limits, hotPost }) {
    hotPost('/v1/chat/completions', (x) => complete(engine, limits, x))
  },
}

async function complete(engine: Engine, limits: BodyLimits, x: Exchange): Promise<Response> {
  const token = callerOf(engine, x)
  if (token instanceof Refusal) return answerRefusal(x, token)
  const ctx = new Caller(x, token)
  const body = await readJsonObject(x, limits)
  const call = body instanceof Refusal ? body : parseChat(body)
  if (call instanceof Refusal) {
    return answerRefusal(x, recordUnbilled(engine, newRecord(ctx, 'chat', ''), 'refused', call))
  }
  x.connection.keepOpen()
  const done = await runText(engine, ctx, call)
  if (done instanceof Refusal) return answerRefusal(x, done)
  return 'body' in done ? answerJson(x, done.body) : answerStream(x, done.stream)
}
