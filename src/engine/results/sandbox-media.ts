// Fetches files of the built-in sandbox from this machine. Knows only the sandbox's address and
// that its files are below one path.
import type { Content, ContentOptions } from '../../contract/caller-api.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { Declared } from '../declared.ts'
import { type ContentDeps, openPlain } from './open-content.ts'

const mediaPath = '/media/'

/** `name` is a plain file name with its signature behind it. */
export async function openSandboxMedia(
  deps: ContentDeps & { readonly declared: Declared },
  name: string,
  input: ContentOptions,
): Promise<Content | Refusal> {
  const { sandbox } = deps.declared
  const base = sandbox && Object.values(sandbox.channel.protocols)[0]
  if (base === undefined) return refuse('not_found', 'no sandbox runs here')
  const url = `${new URL(base).origin}${mediaPath}${name}`
  const kind = name.includes('.mp4') ? 'video' : 'image'
  const rules = { allow: ['127.0.0.1/32'], httpsOnly: true }
  return openPlain(deps, { id: 'sandbox', kind, url }, { rules }, input)
}
