// Errors that the simulation injects into the store, told apart from real ones by their code.
import { codeOf, DatabaseError } from '../../src/store/dialects/errors.ts'

const injected = 'SIM_TROUBLE'
export const trouble = (message: string) => new DatabaseError(injected, message)
export const away = () => trouble('the database is away')
export const isInjected = (error: unknown): boolean => codeOf(error) === injected
