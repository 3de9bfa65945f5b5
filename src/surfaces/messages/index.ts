// Messages: JSON and stream, and how large the input of a call would be.
import type { Surface } from '../common/surface.ts'
import { textSurface } from '../text/serve.ts'
import { serveCount } from './count-tokens.ts'
import { messagesShape } from './shape.ts'

const operations = async () => (await import('./operations.ts')).messagesOperations
const text = textSurface(messagesShape, operations)

export const messages: Surface = {
  ...text,
  mount(app, deps) {
    text.mount(app, deps)
    app.post('/v1/messages/count_tokens', ({ env }) => serveCount(deps, env.context))
  },
}
