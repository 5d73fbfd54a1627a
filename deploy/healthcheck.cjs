/** Asks the service of this container at the path that is given; ends with 0 if it answers 200. http starts faster than fetch. */
const { get } = require('node:http');

const DEFAULT_PORTS = { 'hosted-api': '8080', monitor: '8090' };
const { SERVICE, PORT } = process.env;
const port = PORT || DEFAULT_PORTS[SERVICE];

const fail = (why) => {
  console.log(String(why));
  process.exitCode = 1;
};

get({ host: '127.0.0.1', port, path: process.argv[2] ?? '/health', timeout: 4_000 }, (response) => {
  let body = '';
  response.setEncoding('utf8').on('data', (text) => {
    body += text;
  });
  response.on('end', () => (response.statusCode === 200 ? undefined : fail(`${response.statusCode} ${body}`)));
})
  .on('timeout', function () {
    this.destroy(new Error('no answer within 4 s'));
  })
  .on('error', fail);
