import { describe, expect, test } from 'bun:test'
import {
  countedBy,
  type Family,
  Histogram,
  HistogramSeries,
  labelsOf,
  mergeFamilies,
  type Sample,
  writeFamilies,
} from './metrics.ts'

const family = (name: string, samples: Sample[], more: Partial<Family> = {}): Family => ({
  name,
  help: 'Help.',
  type: 'counter',
  across: 'sum',
  samples,
  ...more,
})

describe('a histogram', () => {
  test('counts a value at a bound below it, and what is beyond all bounds', () => {
    const histogram = new Histogram([1, 2, 5])
    for (const value of [0, 1, 1.5, 2, 6, 100]) histogram.note(value)
    expect([...histogram.counts]).toEqual([2, 2, 0, 2])
    expect(histogram.sum).toBe(110.5)
    expect(histogram.total).toBe(6)
  })

  test('is written with sums up to each bound', () => {
    const histogram = new Histogram([0.5, 1])
    for (const value of [0.1, 0.7, 3]) histogram.note(value)
    const samples: Sample[] = []
    new HistogramSeries('x_seconds', labelsOf({ a: 'b' }), histogram).addTo(samples)
    const text = writeFamilies([family('x_seconds', samples, { type: 'histogram' })])
    expect(text).toBe(
      [
        '# HELP x_seconds Help.',
        '# TYPE x_seconds histogram',
        'x_seconds_bucket{a="b",le="0.5"} 1',
        'x_seconds_bucket{a="b",le="1"} 2',
        'x_seconds_bucket{a="b",le="+Inf"} 3',
        'x_seconds_sum{a="b"} 3.8',
        'x_seconds_count{a="b"} 3',
        '',
      ].join('\n'),
    )
  })
})

describe('the text', () => {
  test('escapes what would end a label early', () => {
    expect(labelsOf({ name: 'a"b\\c\nd' })).toBe('name="a\\"b\\\\c\\nd"')
  })

  test('has words for what is no number', () => {
    const samples: Sample[] = [
      ['a', Number.POSITIVE_INFINITY],
      ['b', Number.NEGATIVE_INFINITY],
      ['c', Number.NaN],
    ]
    expect(writeFamilies([family('a', samples)])).toContain('a +Inf\nb -Inf\nc NaN\n')
  })

  test('names counters without their ending as OpenMetrics, and says where it ends', () => {
    const text = writeFamilies([family('calls_total', [['calls_total', 1]])], true)
    expect(text).toBe('# HELP calls Help.\n# TYPE calls counter\ncalls_total 1\n# EOF\n')
  })
})

describe('several processes', () => {
  test('become one: counters are added, gauges as each says', () => {
    const of = (value: number) => [
      family('calls_total', [['calls_total{a="1"}', value]]),
      family('tasks', [['tasks', value]], { type: 'gauge', across: 'max' }),
      family('healthy', [['healthy', value]], { type: 'gauge', across: 'min' }),
    ]
    const merged = mergeFamilies([of(2), of(5)])
    expect(merged.map(({ samples }) => samples)).toEqual([
      [['calls_total{a="1"}', 7]],
      [['tasks', 5]],
      [['healthy', 2]],
    ])
  })

  test('need not have the same series', () => {
    const merged = mergeFamilies([
      [family('x_total', [['x_total{a="1"}', 1]])],
      [family('x_total', [['x_total{a="2"}', 2]])],
    ])
    expect(merged[0]!.samples).toEqual([
      ['x_total{a="1"}', 1],
      ['x_total{a="2"}', 2],
    ])
  })

  test('leave what they counted when they end, not how they were', () => {
    const left = countedBy([family('a_total', []), family('b', [], { type: 'gauge' })])
    expect(left.map(({ name }) => name)).toEqual(['a_total'])
  })
})
