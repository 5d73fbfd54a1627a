/** The event stream: one file for Jest, so that the database is created once. */
import './stream-parts.ts';
import './events.ts';
import './stream-loop.ts';
import './stream-position.ts';
import './event-slots.ts';
import './event-outage.ts';
import './event-order.ts';
