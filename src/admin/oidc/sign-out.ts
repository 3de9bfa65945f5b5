// Signing out: ends the session here and, for a person who came from the identity provider, says where it
// ends there.
import { z } from 'zod'
import { answerJson } from '../../http/request-context.ts'
import { endSession, findPerson } from '../../store/catalog/people.ts'
import { cookieOf, endedCookie } from '../people/sign-in.ts'
import { forAll } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { endedHintCookie, readHint } from './flow-cookie.ts'
import { logFailure } from './oidc.ts'

const sessionEnded = z.object({
  ended: z.literal(true),
  sign_out_url: z
    .string()
    .nullable()
    .describe('Page of the identity provider that ends the session there, too; null: none.'),
})

async function close(ask: Ask) {
  const { engine, x } = ask
  const secret = cookieOf(x)
  if (secret !== undefined) {
    await engine.store.tx((tx) => endSession(tx, engine.seal.hash(secret)))
  }
  const ended: View<typeof sessionEnded> = { ended: true, sign_out_url: await signOutUrl(ask) }
  const answer = answerJson(x, JSON.stringify(ended), 200, { 'set-cookie': endedCookie })
  answer.headers.append('set-cookie', endedHintCookie)
  return answer
}

/** Where a person who came from the provider goes to sign out there; null: nowhere. */
async function signOutUrl({ engine, deps, viewer, x }: Ask): Promise<string | null> {
  const { oidc } = deps
  if (oidc === undefined || viewer?.personId === undefined) return null
  const person = await findPerson(engine.store.read, viewer.personId)
  if (person?.subject === undefined) return null
  try {
    const page = `${deps.consoleUrl ?? engine.publicUrl}/console/`
    return (await oidc.signOutUrl(page, readHint(engine, x)))?.href ?? null
  } catch (error) {
    logFailure(engine, error)
    return null
  }
}

const route = routesOf({ tag: 'People', thing: 'session', permission: forAll })

export const signOutRoutes = [
  route('DELETE /session', {
    id: 'signOut',
    summary: 'Sign out',
    answer: sessionEnded,
    headers: ['set-cookie'],
    returns: 'The session is over.',
    handle: close,
  }),
]
