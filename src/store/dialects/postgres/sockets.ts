// The sockets of one group of database connections, so that all can be closed at once. A pool
// releases no connection while a query waits on it.
import { Socket } from 'node:net'

export class Sockets {
  readonly #open = new Set<Socket>()

  /** Stream factory for the driver's connections. */
  readonly stream = (): Socket => {
    const socket = new Socket()
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    return socket
  }

  /** Pending queries on these sockets fail. */
  cut(): void {
    for (const socket of this.#open) socket.destroy()
  }
}
