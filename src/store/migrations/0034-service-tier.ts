// Migration 34: the service tier that a charge was made at; null: the plain rates of its price.
import { addChargeText } from './0033-call-rows.ts'

export const serviceTier = addChargeText(34, 'service_tier')
