/** Pages in a real browser: one file for Jest, so that replicas, browser and history are created once. */
import './account-pages.ts';
import './customers.ts';
