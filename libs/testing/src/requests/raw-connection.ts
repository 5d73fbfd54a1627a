import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from '../processes/until.ts';

export interface RawAnswer {
  status: number;
  headers: Headers;
  /** Part of the body that was received. */
  body: string;
}

/** A TCP connection to a server, for what an HTTP client would hide: half requests, pipelining, aborted connections. */
export class RawConnection {
  readonly #socket: Socket;
  readonly #host: string;
  text = '';
  /** The server has closed its side. */
  isClosed = false;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      this.text += chunk;
    });
    socket.on('error', () => undefined);
    for (const event of ['end', 'close']) {
      socket.once(event, () => {
        this.isClosed = true;
      });
    }
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port, host } = new URL(url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const connection = new RawConnection(socket, host);
    await once(socket, 'connect');
    return connection;
  }

  /** Sends a head, and what is given of its body; a Host header is added unless there is one. */
  send(requestLine: string, headers: Readonly<Record<string, string>> = {}, body: string | Uint8Array = ''): void {
    const all = { host: this.#host, ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    this.write([`${requestLine} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
    if (body.length > 0) this.write(body);
  }

  write(data: string | Uint8Array): void {
    this.#socket.write(data);
  }

  /** The first answer, once its head is there and its body as long as its Content-Length. */
  async answer(): Promise<RawAnswer> {
    await until('an answer came', () => this.isClosed || this.#parsed() !== null);
    const answer = this.#parsed();
    if (!answer) throw new Error(`no answer before the connection closed: ${this.text}`);
    return answer;
  }

  #parsed(): RawAnswer | null {
    const end = this.text.indexOf('\r\n\r\n');
    if (end === -1) return null;
    const [statusLine = '', ...lines] = this.text.slice(0, end).split('\r\n');
    const headers = new Headers(lines.map((line) => line.split(/: */, 2) as [string, string]));
    const length = Number(headers.get('content-length') ?? 0);
    const body = this.text.slice(end + 4);
    if (body.length < length && !this.isClosed) return null;
    return { status: Number(statusLine.split(' ')[1]), headers, body: body.slice(0, length || undefined) };
  }

  /** Closes with RST, as a client that dies does. */
  abort(): void {
    this.#socket.resetAndDestroy();
  }

  close(): void {
    this.#socket.destroy();
  }
}
