export {
  ANNA,
  APP_KEY,
  BOT,
  createWorld,
  makeSource,
  openIssue,
  REPO,
  STRANGER,
  shopApp,
  type World,
} from './environment.ts';
export { type Receiver, startReceiver } from './receiver.ts';
export { type Exchange, recordingFetch } from './recording-fetch.ts';
