export {
  ANNA,
  APP_KEY,
  BOT,
  ciToken,
  createSandboxEnvironment,
  type Exchange,
  makeSource,
  openIssue,
  REPO,
  recordingFetch,
  type SandboxEnvironment,
  STRANGER,
  shopApp,
} from './environment.ts';
export { type OpenedPage, openPage, postRegistration, submitForm } from './person.ts';
export { type Receiver, startReceiver } from './receiver.ts';
