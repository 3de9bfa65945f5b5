// What the id of an imgvendor task carries: all that a poll returns, the caller's own id only if it
// is short. No account of a task names its model.
import { readImageBatch, writeImageBatch } from '../media/image-request.ts'
import type { TaskIds } from '../tasks/task-id.ts'
import { paths, shapeNumber, shapeNumbered, sizeOf } from './request.ts'
import type { ImgInput } from './wire.ts'

const flags = { series: 1, watermark: 2, externalId: 4 }
/** Room for what most programs call their tasks. */
const maxExternalLetters = 48

export const imgvendorIds: TaskIds<ImgInput> = {
  protocol: 'imgvendor',
  wrap: (letters) => letters,
  unwrap: (id) => id,
  write({ image }, plan) {
    const { externalId = '' } = image
    const carriesId = externalId !== '' && Buffer.byteLength(externalId) <= maxExternalLetters
    writeImageBatch(image, plan)
    plan.whole(shapeNumber(image))
    plan.whole(paths.indexOf(image.path))
    plan.whole(
      (image.isSeries ? flags.series : 0) +
        (image.hasWatermark ? flags.watermark : 0) +
        (carriesId ? flags.externalId : 0),
    )
    if (carriesId) plan.text(externalId)
  },
  read(plan) {
    const batch = readImageBatch(plan)
    const shape = shapeNumbered(plan.whole())
    const path = paths[plan.whole()]
    if (shape === undefined || path === undefined) return undefined
    const bits = plan.whole()
    const image = {
      ...batch,
      ...shape,
      ...sizeOf(shape),
      path,
      isSeries: (bits & flags.series) !== 0,
      hasWatermark: (bits & flags.watermark) !== 0,
      externalId: (bits & flags.externalId) !== 0 ? plan.text() : undefined,
    }
    return { model: '', seconds: 0, resolution: shape.resolution, image }
  },
}
