// What the operator declared, and what the process was started with.
import type { Channel } from '../contract/catalog.ts'
import type { FileDeclaration } from '../contract/config-schema/index.ts'
import type { SharedSecret } from './callbacks/callback-secret.ts'

/** Inputs other than the store. */
export interface Declared {
  file: FileDeclaration
  /** The sandbox, when it runs; unless always on, any real channel takes precedence over it. */
  sandbox?: { channel: Channel; always: boolean }
  /** The gateway's own secrets, which must never appear in a text. */
  ownSecrets: readonly string[]
  /** Also signs callbacks for a while after an upgrade. */
  sharedSecret?: SharedSecret
}
