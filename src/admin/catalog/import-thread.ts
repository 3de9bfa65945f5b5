// What the thread that reads imports runs: one text in, what it says out.
import { type ImportKind, importReaders } from './import-readers.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<{ kind: ImportKind; text: string }>) => {
  self.postMessage(importReaders[data.kind](data.text))
}
