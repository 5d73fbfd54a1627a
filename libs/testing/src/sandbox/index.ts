export {
  ANNA,
  APP_KEY,
  BOT,
  ciToken,
  createSandboxEnvironment,
  makeSource,
  openIssue,
  REPO,
  type SandboxEnvironment,
  STRANGER,
  shopApp,
} from './environment.ts';
export { type OpenedPage, openPage, postRegistration, submitForm } from './person.ts';
export { type Receiver, startReceiver } from './receiver.ts';
export { type Exchange, recordingFetch } from './recording-fetch.ts';
