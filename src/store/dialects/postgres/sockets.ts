// The sockets of one group of database connections, so that all of them can be given up at once.
// A pool gives none of its connections back while somebody waits on it.
import { Socket } from 'node:net'

export class Sockets {
  readonly #open = new Set<Socket>()

  /** What a connection of the driver is made with. */
  readonly stream = (): Socket => {
    const socket = new Socket()
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    return socket
  }

  /** Whoever waits on one of them fails. */
  cut(): void {
    for (const socket of this.#open) socket.destroy()
  }
}
