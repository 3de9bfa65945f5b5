// Opens the stores that keep results from the declared `media`. Opens the directory; uses no
// network.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../config/index.ts'
import { keptBytesOf, keptMsOf, type MediaDeclaration } from '../contract/config-schema/index.ts'
import type { KeepSettings } from '../engine/results/media-storage.ts'
import { ensure } from '../lib/ensure.ts'
import { openDirectory } from '../media/directory.ts'
import { openS3 } from '../media/s3.ts'
import type { MediaStore } from '../media/store.ts'

/** Files in the other store from before a change stay available there. */
export function keepSettings(media: MediaDeclaration | undefined, dataDir: string): KeepSettings {
  const dir = join(dataDir, 'media')
  if (media === undefined) return { stores: [directoryAt(dir)], ...onlyInline }
  const stores: MediaStore[] = []
  if (media.s3 !== undefined) stores.push(s3Of(media.s3))
  if (media.keep === 'data') stores.unshift(directoryAt(dir))
  else if (existsSync(dir)) stores.push(directoryAt(dir))
  const [main, ...others] = stores
  ensure(main !== undefined, 'results are kept somewhere')
  return { stores: [main, ...others], budgetBytes: keptBytesOf(media), keepMs: keptMsOf(media) }
}

/** Inline images are kept even where results are not: no other copy exists. */
const onlyInline = { copies: false, budgetBytes: 1024 ** 3, keepMs: 24 * 3_600_000 } as const

function directoryAt(dir: string): MediaStore {
  try {
    return openDirectory(dir)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError(`media: ${dir} cannot be written (${code}).`)
  }
}

const s3Of = (s3: NonNullable<MediaDeclaration['s3']>): MediaStore =>
  openS3({
    endpoint: s3.endpoint,
    region: s3.region,
    bucket: s3.bucket,
    accessKey: s3.access_key,
    secretKey: s3.secret_key,
    prefix: s3.prefix ?? '',
    pathStyle: s3.path_style ?? true,
  })
