// What a scrape of the metrics costs while the gateway has all the calls it can take: stretches of load
// with and without scrapes in turn. Before them every model is asked for once on every text interface,
// so that there are as many series as a busy gateway has.

import { countCharges, readBalance } from '../lib/charges.ts'
import type { Child } from '../lib/children.ts'
import { adminToken } from '../lib/gateway-config.ts'
import { note, type PartResult, portOf, type Run, startProgram, workspaceFor } from '../lib/part.ts'
import { cpuMicros } from '../lib/proc.ts'
import { median } from '../lib/stats.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import { commandFor, probe, runLoad, type Work } from '../load/slice.ts'
import type { Options } from '../options.ts'
import { checkScrapes, formatScrapes, type ScrapeSlice, summariseScrapes } from './report.ts'

const warmUpSeconds = 4
const everyMs = 25
const askMs = 5_000

export const scrapeSeconds = ({ rounds, seconds }: Options): number =>
  warmUpSeconds + 2 * rounds * seconds + 10

export async function runScrape(run: Run): Promise<PartResult> {
  const { options } = run
  const own = workspaceFor(run, 'scrape')
  const upstream = startProgram(own, 'upstreams/text-upstream', String(options.chunksPerWrite))
  const workspace = { ...own, upstreamPort: await portOf(upstream) }
  const gateway = await startGateway(workspace, options.gatewayCommand)
  const load = startProgram(own, 'load/load')
  const before = await readBalance(gateway)
  const work = await probe(gateway, { style: 'chat', mode: 'json' })
  const answered = await callEveryModel(gateway)
  const warm = await slice(load, work, options.connections, warmUpSeconds, false)
  const pairs: [ScrapeSlice, ScrapeSlice][] = []
  for (let round = 1; round <= options.rounds; round++) {
    const quiet = await slice(load, work, options.connections, options.seconds, false)
    const scraped = await slice(load, work, options.connections, options.seconds, true)
    pairs.push([quiet, scraped])
    note(`round ${round}/${options.rounds} scrape: ${scraped.scrapes} scrapes`)
  }
  const figures = summariseScrapes(pairs, await scrape(gateway))
  const served = [warm, ...pairs.flat()].reduce((sum, each) => sum + each.served, 1 + answered)
  return {
    setting: `scrape: ${options.connections} connections with chat calls, and a scrape every ${everyMs} ms`,
    tables: [formatScrapes(figures)],
    verdicts: checkScrapes(figures),
    charges: [countCharges(before, await readBalance(gateway), 'json', served)],
    failed: figures.failed,
    figures: { scrape: figures },
  }
}

async function scrape({ port }: Target): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, {
    signal: AbortSignal.timeout(askMs),
  })
  if (!answer.ok) throw new Error(`a scrape was answered with ${answer.status}`)
  return answer.text()
}

/** Most are refused for want of a price, and counted under their names all the same. Gives the others. */
async function callEveryModel({ port, headers }: Target): Promise<number> {
  const url = `http://127.0.0.1:${port}`
  const listed = await fetch(`${url}/admin/v1/models?limit=500`, {
    headers: { authorization: `Bearer ${adminToken}` },
  })
  const { items } = (await listed.json()) as { items: { name: string }[] }
  const paths = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/embeddings']
  const statuses: number[] = []
  for (const { name: model } of items) {
    const body = JSON.stringify({ model, messages: [], input: 'x', max_tokens: 1 })
    for (const path of paths) {
      const answer = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      })
      await answer.text()
      statuses.push(answer.status)
    }
  }
  return statuses.filter((status) => status === 200).length
}

async function slice(
  load: Child,
  work: Work,
  connections: number,
  seconds: number,
  withScrapes: boolean,
): Promise<ScrapeSlice> {
  const { target } = work
  const took: number[] = []
  let isOver = false
  const scraping = (async () => {
    while (withScrapes && !isOver) {
      const began = performance.now()
      await scrape(target)
      took.push(performance.now() - began)
      await Bun.sleep(Math.max(0, everyMs - (performance.now() - began)))
    }
  })()
  const before = cpuMicros(target.pids)
  const { served, failed } = await runLoad(load, target, commandFor(work, connections, seconds))
  isOver = true
  await scraping
  const spent = cpuMicros(target.pids) - before
  const timed = took.length > 0 && { medianMs: median(took) }
  return { scrapes: took.length, served, failed, cpuMicros: spent, ...timed }
}
