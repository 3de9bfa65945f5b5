// Chat completions: JSON and stream.
import { Refusal } from '../../contract/errors.ts'
import { newRecord, recordUnbilled } from '../../engine/call-record.ts'
import { runText } from '../../engine/run-text.ts'
import { answerJson, answerStream } from '../../http/exchange.ts'
import { readJsonObject } from '../../http/read-json.ts'
import { answer } from '../../http/render-error.ts'
import { asCaller, contextOf, type Surface } from '../surface.ts'
import { parseChat } from './parse.ts'

export const chat: Surface = {
  name: 'chat',
  mount(_, { engine, limits, hotPost }) {
    hotPost('/v1/chat/completions', async (exchange) => {
      const result = await asCaller(engine, exchange, async (x, token) => {
        const ctx = contextOf(x, token)
        const body = await readJsonObject(x, limits)
        const call = body instanceof Refusal ? body : parseChat(body)
        if (call instanceof Refusal) {
          return recordUnbilled(engine, newRecord(ctx, 'chat', ''), 'refused', call)
        }
        x.connection.keepOpen()
        const done = await runText(engine, ctx, call)
        if (done instanceof Refusal) return done
        return 'body' in done ? answerJson(x, done.body) : answerStream(x, done.stream)
      })
      return answer(exchange, result)
    })
  },
}
