export { type ChangedField, changeTrack, type TrackDeed } from './change-track.ts';
export { activatePrompt, addPrompt, listPrompts, readPrompt } from './prompts.ts';
export { type RunResult, runDueTracks } from './run-due.ts';
export type { Track } from './track-view.ts';
export {
  type FleetTrack,
  listAllTracks,
  listTracks,
  putTrack,
  removeTrack,
  type TrackAddress,
  type TrackInput,
  updateTrackAt,
} from './tracks.ts';
