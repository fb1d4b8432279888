d'use strict';

const http = require('http');
const routes = new Map();

/**
 * Registers a handler.
 */
function register(path, handler) {
  routes.set(path, handler);
}

class Router extends Base {
  static instance = null;

  constructor(options) {
    super(options);
  }

  // Finds the handler for a path.
  find(path) {
    return routes.get(path);
  }

  handle = async (request) => {
    return this.find(request.url);
  };
}

const listen = (port) => http.createServer().listen(port);

Router.prototype.close = function () {
  routes.clear();
};

module.exports = { Router, register, listen };
