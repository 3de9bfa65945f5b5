// Time as an argument, so that tests and simulations can own it.

export interface Clock {
  nowMs(): number
}

export const systemClock: Clock = { nowMs: Date.now }
