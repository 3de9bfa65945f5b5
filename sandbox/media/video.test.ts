import { expect, test } from 'bun:test'
import { unit } from './h264.ts'
import { readMovie, readSequenceParameterSet } from './test-mp4.ts'
import { colourOf, makeVideo } from './video.ts'

const seed = 'a1b2c3d4e5f60718'

const sizes = [
  { width: 1280, height: 720, coded: [1280, 720], level: 31 },
  { width: 1920, height: 1080, coded: [1920, 1088], level: 40 },
  { width: 1080, height: 1920, coded: [1088, 1920], level: 40 },
  { width: 960, height: 960, coded: [960, 960], level: 31 },
] as const

const setOf = (config: Buffer) => config.subarray(8, 8 + config.readUInt16BE(6))

test('the boxes tile the file, and the index comes before the frames', () => {
  const video = makeVideo({ width: 1280, height: 720, seconds: 3, seed })
  const movie = readMovie(video)
  expect(movie.order).toEqual(['ftyp', 'moov', 'mdat'])
  expect(movie.chunk).toBe(movie.media.start)
  expect(movie.framesEnd).toBe(movie.media.end)
  expect(movie.media.end).toBe(video.length)
})

test('the size is the one asked for, in the container and, after cropping, in the frames', () => {
  for (const { width, height, coded, level } of sizes) {
    const movie = readMovie(makeVideo({ width, height, seconds: 1, seed }))
    expect(movie).toMatchObject({ width, height, shown: [width, height] })
    const set = readSequenceParameterSet(setOf(movie.config))
    expect(set).toMatchObject({ profile: 66, constraints: 0xc0, level, order: 2 })
    expect(set).toMatchObject({ coded: [...coded], width, height })
    expect([...movie.config.subarray(0, 4)]).toEqual([1, 66, 0xc0, level])
  }
})

test('the video lasts as long as asked for, and can be played from every second', () => {
  for (const seconds of [1, 5, 15]) {
    const movie = readMovie(makeVideo({ width: 1280, height: 720, seconds, seed }))
    expect(movie.movieSeconds).toBe(seconds)
    expect(movie.trackSeconds).toBe(seconds)
    expect(movie.frameCount * movie.frameSeconds).toBeCloseTo(seconds, 9)
    expect(movie.frames).toHaveLength(movie.frameCount)
    expect(movie.keyFrames).toEqual(Array.from({ length: seconds }, (_, i) => 24 * i + 1))
  }
})

test('every frame is one unit of its length, whole ones where the index says so', () => {
  const { frames, keyFrames } = readMovie(
    makeVideo({ width: 1920, height: 1080, seconds: 2, seed }),
  )
  for (const [i, frame] of frames.entries()) {
    expect(frame.readUInt32BE(0)).toBe(frame.length - 4)
    expect(frame[4]! & 0x1f).toBe(keyFrames.includes(i + 1) ? 5 : 1)
    // Inside a unit nothing may look like the start of another.
    expect(/\0\0[\0-\x02]/.test(frame.toString('latin1', 5))).toBe(false)
  }
})

test('bytes that look like the start of a unit are kept apart', () => {
  const apart = unit(3, 5, [0, 0, 0, 0, 0, 1, 0, 0, 4, 0, 0, 3])
  expect([...apart]).toEqual([0x65, 0, 0, 3, 0, 0, 3, 0, 1, 0, 0, 4, 0, 0, 3, 3])
})

test('the first samples of a second are in the open and have its colour', () => {
  const { frames } = readMovie(makeVideo({ width: 1280, height: 720, seconds: 2, seed }))
  for (const second of [0, 1]) {
    const { luma, blue, red } = colourOf(seed, second)
    const samples = Buffer.from([
      ...Array(256).fill(luma),
      ...Array(64).fill(blue),
      ...Array(64).fill(red),
    ])
    expect(frames[24 * second]!.includes(samples)).toBe(true)
  }
})

test('the same video has the same bytes, and another seed another colour', () => {
  const video = { width: 1280, height: 720, seconds: 2, seed }
  expect(makeVideo(video)).toEqual(makeVideo(video))
  expect(makeVideo({ ...video, seed: '0102030405060708' })).not.toEqual(makeVideo(video))
})

// These very bytes were decoded without a complaint, with every sample of the right colour. When
// they change on purpose, have a strict decoder look at them again:
//   ffmpeg -v warning -xerror -err_detect explode -i video.mp4 -f null -
test('the videos are, byte by byte, those that a decoder has accepted', () => {
  const known = [
    [1280, 720, '2e5bb294a2f010665f8501f7c8123b551a7dd69c1d77b2b42bb271d7b8be99ab'],
    [1920, 1080, 'cdff549297c1648c3e8dfe3a892698eeb37549e219b8f4c1b23a421c5ee21e2c'],
  ] as const
  for (const [width, height, hash] of known) {
    const video = makeVideo({ width, height, seconds: 2, seed })
    expect(new Bun.CryptoHasher('sha256').update(video).digest('hex')).toBe(hash)
  }
})

test('a long and large video is small', () => {
  const video = makeVideo({ width: 1920, height: 1080, seconds: 15, seed })
  expect(video.length).toBeLessThan(200_000)
})
