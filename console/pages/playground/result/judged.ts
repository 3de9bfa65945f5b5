// What rerank and moderation answered, as far as it can be shown. Pure.
import { valueAt } from '../request/endpoints.ts'

const listAt = (body: unknown, at: string): Record<string, unknown>[] => {
  const found = valueAt(body, at)
  return Array.isArray(found) ? found.map((each) => (each ?? {}) as Record<string, unknown>) : []
}

export const rankedIn = (body: unknown): { index: number; score: number }[] =>
  listAt(body, 'results').map(({ index, relevance_score }) => ({
    ...{ index: Number(index), score: Number(relevance_score) },
  }))

/** The texts that were sent, in order; undefined for what is none. */
export function textsIn(sent: unknown, at: string): (string | undefined)[] {
  const given = valueAt(sent, at)
  const all: unknown[] = Array.isArray(given) ? given : [given]
  return all.map((each) => {
    const text = typeof each === 'string' ? each : valueAt(each, 'text')
    return typeof text === 'string' ? text : undefined
  })
}

interface Category {
  name: string
  score: number
  isMet: boolean
}

/** Of each text, the category that fits best first. */
export const categoriesIn = (body: unknown): { isFlagged: boolean; categories: Category[] }[] =>
  listAt(body, 'results').map(({ flagged, categories, category_scores }) => {
    const met = (categories ?? {}) as Record<string, unknown>
    const scores = (category_scores ?? {}) as Record<string, unknown>
    const names = [...new Set([...Object.keys(met), ...Object.keys(scores)])]
    return {
      isFlagged: flagged === true,
      categories: names
        .map((name) => ({
          name,
          score: Number(scores[name] ?? (met[name] === true ? 1 : 0)),
          isMet: met[name] === true,
        }))
        .sort((a, b) => b.score - a.score),
    }
  })
