// One part of a batch at its upstream, from its hold to its end. Every step is in the store before the next, so
// that the next owner goes on from there. A create that may have arrived is looked for before there is another.
import type { BatchSource } from '../../../contract/batches/upstream.ts'
import type { BatchReport } from '../../../contract/provider.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import { lockBatch } from '../../../store/batches/batches.ts'
import { movePart, type NativePart, type PartState } from '../../../store/batches/native-parts.ts'
import { askBatches, type PartPlace, placeOf, upstreamAt } from './ask-upstream.ts'
import { releasePart } from './hold-part.ts'
import type { NativeDeps, NativeHost, NumberedLine } from './native-host.ts'

/** After as many uploads that failed, the gateway makes the calls itself. */
const maxUploads = 5
/** A create that was cut off arrives within this time, or not at all. */
const arrivalMs = 10_000
/** A batch that the upstream does not know so often is gone. */
const maxMisses = 3

/** `back`: the upstream has run none of its lines, and will not. */
export type Step = 'same' | 'moved' | 'ended' | 'back'

export class PartRun {
  readonly #deps: NativeDeps
  readonly #host: NativeHost
  #part: NativePart
  #uploads = 0
  #misses = 0
  /** Since then there may be a create whose outcome is not known. */
  #maySinceMs: number | undefined
  /** As they are uploaded, while they are known. */
  #text: string | undefined

  constructor(deps: NativeDeps, host: NativeHost, part: NativePart, maySinceMs?: number) {
    this.#deps = deps
    this.#host = host
    this.#part = part
    this.#maySinceMs = maySinceMs
  }

  get lines(): readonly number[] {
    return this.#part.lines
  }

  /** Sends lines that were just held for. */
  async begin(lines: readonly (NumberedLine & { body: string })[]): Promise<Step> {
    const place = placeOf(this.#deps, this.#part)
    if (place !== undefined) this.#text = lines.map((line) => this.#textOf(place, line)).join('')
    const step = await this.step(false)
    this.#text = undefined
    return step
  }

  /** One move, if there is one. `isLate`: an end of the batch has been waited for long enough. */
  async step(isLate: boolean): Promise<Step> {
    const place = placeOf(this.#deps, this.#part)
    if (place === undefined) return isLate ? this.#giveUp() : 'same'
    switch (this.#part.state) {
      case 'held':
        return this.#host.isEnding() ? this.#return() : this.#upload(place)
      case 'uploaded':
        return this.#create(place)
      default:
        return this.#poll(place, isLate)
    }
  }

  async #upload(place: PartPlace): Promise<Step> {
    const source = await this.#source(place)
    if (source.lines === '') return this.#return()
    const uploaded = { ...this.#part, state: 'uploaded' as const }
    if (place.provider.upload === undefined) return this.#uploaded(place, uploaded)
    const done = await askBatches(this.#deps, this.#part, place, (provider, upstream, stop) =>
      provider.upload!(source, upstream, stop),
    )
    if (done.kind === 'failed') {
      this.#warn('lines of a batch not uploaded', done.error.message)
      return ++this.#uploads >= maxUploads ? this.#return() : 'same'
    }
    crashPoint('native-uploaded')
    return this.#uploaded(place, { ...uploaded, fileId: done.fileId })
  }

  /** Nothing was made of it before. */
  async #uploaded(place: PartPlace, part: NativePart): Promise<Step> {
    this.#maySinceMs = undefined
    return (await this.#move(part)) ? this.#create(place) : 'same'
  }

  async #create(place: PartPlace): Promise<Step> {
    if (this.#host.isStopped()) return 'same'
    const { id: marker, fileId, createdAtMs: fromMs } = this.#part
    const named = { marker, ...(fileId !== undefined && { fileId }) }
    const nowMs = this.#deps.clock.nowMs()
    if (this.#maySinceMs !== undefined) {
      const found = await askBatches(this.#deps, this.#part, place, (provider, upstream, stop) =>
        provider.find({ ...named, fromMs }, upstream, stop),
      )
      if (found.kind === 'failed') return 'same'
      if (found.upstreamId !== undefined) return this.#created(found.upstreamId)
      if (nowMs - this.#maySinceMs < arrivalMs) return 'same'
    }
    if (this.#host.isEnding()) return this.#return()
    const source = await this.#source(place)
    this.#maySinceMs = nowMs
    const made = await askBatches(this.#deps, this.#part, place, (provider, upstream, stop) =>
      provider.create({ ...source, ...named }, upstream, stop),
    )
    crashPoint('native-created')
    if (made.kind === 'created') return this.#created(made.upstreamId)
    this.#warn('batch not made upstream', made.error.message)
    return made.kind === 'refused' ? this.#return() : 'same'
  }

  async #created(upstreamId: string): Promise<Step> {
    return (await this.#move({ ...this.#part, state: 'created', upstreamId })) ? 'moved' : 'same'
  }

  async #poll(place: PartPlace, isLate: boolean): Promise<Step> {
    const { upstreamId, state } = this.#part
    if (upstreamId === undefined) return this.#giveUp()
    if (this.#host.isEnding() && state === 'created') {
      await askBatches(this.#deps, this.#part, place, (provider, upstream, stop) =>
        provider.cancel(upstreamId, upstream, stop),
      )
    }
    const checked = await askBatches(this.#deps, this.#part, place, (provider, upstream, stop) =>
      provider.check(upstreamId, upstream, stop),
    )
    if (checked.kind === 'failed') {
      const isMissing = checked.error.httpStatus === 404 && ++this.#misses >= maxMisses
      return isMissing || isLate ? this.#giveUp() : 'same'
    }
    this.#misses = 0
    const { report } = checked
    if (report.state === 'running') return isLate ? this.#giveUp() : 'same'
    if (report.state === 'ended') return this.#adopt(place, report)
    this.#warn('batch failed upstream', report.error?.message ?? '')
    return this.#return()
  }

  /** Its results are outcomes from here on: what was held for them pays them. */
  async #adopt(place: PartPlace, report: BatchReport): Promise<Step> {
    if (this.#part.state === 'created') {
      if (!(await this.#release('adopting'))) return 'same'
      crashPoint('native-adopting')
    }
    const lines = await this.#linesAt(place)
    try {
      await this.#adoptAll(place, report, lines)
    } catch (error) {
      this.#warn('results of a batch not read', String(error))
      return 'same'
    } finally {
      await this.#host.settled()
    }
    if (this.#host.isStopped()) return 'same'
    for (const line of lines.values()) await this.#host.unrun(line, report.unrun ?? 'failed')
    if (!(await this.#move({ ...this.#part, state: 'ended' }))) return 'same'
    await this.#remove(place, report)
    return 'ended'
  }

  /** Those that have a result are taken from the lines. */
  async #adoptAll(
    place: PartPlace,
    report: BatchReport,
    lines: Map<string, NumberedLine>,
  ): Promise<void> {
    const { channel, key, provider } = place
    const { protocol, upstreamModel } = this.#part
    const upstream = upstreamAt(this.#deps, this.#part, place, { touch() {} })
    for await (const result of provider.results(report, upstream, { replyBy() {} })) {
      if (this.#host.isStopped()) return
      const line = lines.get(result.id)
      if (line === undefined) continue
      lines.delete(result.id)
      if ('unrun' in result) await this.#host.unrun(line, result.unrun)
      else await this.#host.adopt(line, { channel, key, protocol, upstreamModel, result })
    }
  }

  async #remove(place: PartPlace, { results }: BatchReport): Promise<void> {
    const { fileId } = this.#part
    const files = fileId === undefined ? results : [fileId, ...results]
    await askBatches(this.#deps, this.#part, place, async (provider, upstream, stop) =>
      provider.remove?.(files, upstream, stop),
    ).catch((error) => this.#warn('files of a batch not removed', String(error)))
  }

  async #return(): Promise<Step> {
    return (await this.#release('refused')) ? 'back' : 'same'
  }

  /** What became of it cannot be learned. */
  async #giveUp(): Promise<Step> {
    this.#warn('batch lost upstream', '')
    if (!(await this.#release('adopting'))) return 'same'
    for await (const line of this.#host.linesIn(new Set(this.lines))) {
      await this.#host.unrun(line, 'failed')
    }
    if (this.#host.isStopped()) return 'same'
    return (await this.#move({ ...this.#part, state: 'ended' })) ? 'ended' : 'same'
  }

  async #release(state: PartState): Promise<boolean> {
    const part = { ...this.#part, state }
    return this.#taken(await releasePart(this.#deps, this.#host.claim, part), part)
  }

  async #move(part: NativePart): Promise<boolean> {
    const { store } = this.#deps
    const isMine = await store.tx(async (tx) => {
      if ((await lockBatch(tx, store.dialect, this.#host.claim)) === undefined) return false
      await movePart(tx, part)
      return true
    })
    return this.#taken(isMine, part)
  }

  #taken(isMine: boolean, part: NativePart): boolean {
    if (isMine) this.#part = part
    else this.#host.lost()
    return isMine
  }

  async #source(place: PartPlace): Promise<BatchSource> {
    const { id: marker, fileId } = this.#part
    // What was uploaded is there.
    if (fileId !== undefined) return { marker, lines: '', fileId }
    if (this.#text !== undefined) return { marker, lines: this.#text }
    let lines = ''
    for await (const line of this.#host.linesIn(new Set(this.lines))) {
      const prepared = await this.#host.prepare(line.request)
      if (prepared !== undefined) lines += this.#textOf(place, { ...line, body: prepared.body })
    }
    return { marker, lines }
  }

  async #linesAt(place: PartPlace): Promise<Map<string, NumberedLine>> {
    const lines = new Map<string, NumberedLine>()
    for await (const line of this.#host.linesIn(new Set(this.lines))) {
      lines.set(this.#idOf(place, line), line)
    }
    return lines
  }

  #idOf({ provider }: PartPlace, { number, request: { customId } }: NumberedLine): string {
    return provider.idOf({ number, customId }, this.#part.id)
  }

  #textOf(place: PartPlace, line: NumberedLine & { body: string }): string {
    return `${place.provider.line(this.#idOf(place, line), line.body)}\n`
  }

  #warn(message: string, reason: string): void {
    const { id, channelId } = this.#part
    this.#deps.log.warn(message, { name: id, channel: channelId, reason })
  }
}
