'use strict';
// Middleware as in web frameworks, without any server: each gets the context and what comes next.

function compose(...layers) {
  return function run(context, last = async () => {}) {
    const dispatch = async (index) => {
      const layer = layers[index] ?? last;
      return layer(context, () => dispatch(index + 1));
    };
    return dispatch(0);
  };
}

const logger = async (context, next) => {
  context.log.push(`> ${context.method} ${context.path}`);
  await next();
  context.log.push(`< ${context.status}`);
};

const auth = (allowed) => async (context, next) => {
  if (!allowed.includes(context.user)) {
    context.status = 403;
    return;
  }
  await next();
};

const routes = {
  '/etc/passwd': (context) => { context.body = 'nice try'; context.status = 404; },
  '/unlink': (context) => { context.body = 'gone'; context.status = 200; },
};

const app = compose(logger, auth(['ada', 'ben']), async (context) => {
  const handler = routes[context.path];
  if (handler) handler(context);
  else context.status = 404;
});

(async () => {
  for (const [user, path] of [['ada', '/unlink'], ['eve', '/unlink'], ['ben', '/etc/passwd']]) {
    const context = { user, path, method: 'GET', status: 0, log: [] };
    await app(context);
    console.log(user, context.log.join(' '), context.body ?? '');
  }
})();
