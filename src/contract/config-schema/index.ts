// Public entry of the declarations: their schemas, the check, and the resulting values.

export * from '../price-terms.ts'
export { addressProblem, endpointOf } from './addresses.ts'
export {
  type ChannelDeclaration,
  channelDeclaration,
  channelFields,
  checkChannel,
  nativeBatches,
  resolveChannel,
} from './channels.ts'
export * from './check.ts'
export { asCidr, nearestName, parseDurationMs } from './fields.ts'
export * from './logs.ts'
export * from './media.ts'
export * from './models.ts'
export * from './prices.ts'
export * from './schemas.ts'
export * from './values.ts'
