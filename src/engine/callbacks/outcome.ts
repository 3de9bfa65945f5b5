// What the status of an attempt means.
import type { Attempt } from '../../store/deliveries/queue.ts'

export const isDelivered = ({ status = 0 }: Attempt): boolean => status >= 200 && status < 300

/** The receiver wants no more deliveries. */
export const isGone = ({ status, isFinal = false }: Attempt): boolean => isFinal || status === 410
