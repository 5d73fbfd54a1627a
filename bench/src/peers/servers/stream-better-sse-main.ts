import { createChannel, createSession } from 'better-sse';
import { serveStream } from './published.ts';

/** The library one would take: a channel, a session per connection. */
const channel = createChannel();
serveStream(Number(process.env.PORT), {
  open: (request, response) => void createSession(request, response).then((session) => channel.register(session)),
  send: (id, data) => void channel.broadcast(data, 'state-transition', { eventId: `${id}` }),
});
