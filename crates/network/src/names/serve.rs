//! The run's nameserver on one connection (RFC 7766): serves query after query until the client ends, falls silent or
//! reaches the limit.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use super::answer::{Family, Reply, answer};
use super::frame::{self, BoundedStream};
use crate::profile::Name;

/// The limits of a connection.
#[derive(Debug, Clone, Copy)]
pub struct QueryLimits {
    /// The time for a whole query to arrive, and for an answer to be read.
    pub idle: Duration,
    /// The number of queries after which the client has to reconnect.
    pub queries: usize,
}

impl QueryLimits {
    /// The limits for a run. Resolvers ask at once and again on another connection, so a silent one only takes room.
    pub const USUAL: QueryLimits = QueryLimits {
        idle: Duration::from_secs(3),
        queries: 1000,
    };
}

/// Answers queries in the order in which they arrive, until the connection ends. A message that isn't a query
/// ends it too. `ask` is as for [`answer`]; while it waits, later queries wait too.
///
/// The error says why a connection was given up; no caller acts on it.
pub fn serve<S: BoundedStream>(
    mut stream: S,
    deadline: QueryLimits,
    ask: &mut dyn FnMut(&Name, Family) -> Reply,
) -> io::Result<()> {
    for _ in 0..deadline.queries {
        let Some(query) = frame::read(&mut stream, Instant::now() + deadline.idle)? else {
            return Ok(());
        };
        let Some(answer) = answer(&query, ask) else {
            return Err(ErrorKind::InvalidData.into());
        };
        frame::write(&mut stream, &answer, deadline.idle)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
    use std::thread::{self, JoinHandle};

    use hickory_proto::op::{Message, Query};
    use hickory_proto::rr::{Name as WireName, RecordType};

    use super::*;

    const QUICK: QueryLimits = QueryLimits {
        idle: Duration::from_millis(100),
        queries: 3,
    };
    const SLOW: QueryLimits = QueryLimits {
        idle: Duration::from_secs(20),
        queries: 3,
    };

    fn served(deadline: QueryLimits) -> (TcpStream, JoinHandle<io::Result<()>>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let mut ask = |_: &Name, _| Reply::Address(Ipv4Addr::new(198, 18, 1, 0).into(), Duration::from_secs(5));
        (client, thread::spawn(move || serve(stream, deadline, &mut ask)))
    }

    fn query(id: u16) -> Vec<u8> {
        let mut query = Message::query();
        query.metadata.id = id;
        query.add_query(Query::query(
            WireName::from_ascii("api.example.com.").unwrap(),
            RecordType::A,
        ));
        let bytes = query.to_vec().unwrap();
        [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], &bytes].concat()
    }

    fn next_id(client: &mut TcpStream) -> u16 {
        let message = frame::read(client, Instant::now() + Duration::from_secs(10))
            .unwrap()
            .unwrap();
        let message = Message::from_vec(&message).unwrap();
        assert_eq!(message.answers.len(), 1);
        message.metadata.id
    }

    #[test]
    fn queries_sent_all_at_once_are_answered_in_order() {
        let (mut client, server) = served(SLOW);
        client.write_all(&[query(1), query(2)].concat()).unwrap();
        assert_eq!([next_id(&mut client), next_id(&mut client)], [1, 2]);
        client.shutdown(Shutdown::Write).unwrap();
        server.join().unwrap().unwrap();
    }

    #[test]
    fn a_query_may_arrive_in_pieces() {
        let (mut client, server) = served(SLOW);
        client.set_nodelay(true).unwrap();
        for byte in query(7) {
            client.write_all(&[byte]).unwrap();
        }
        assert_eq!(next_id(&mut client), 7);
        drop(client);
        server.join().unwrap().unwrap();
    }

    #[test]
    fn a_connection_ends_after_so_many_queries() {
        let (mut client, server) = served(SLOW);
        client.write_all(&[query(1), query(2), query(3)].concat()).unwrap();
        server.join().unwrap().unwrap();
        assert_eq!(
            [next_id(&mut client), next_id(&mut client), next_id(&mut client)],
            [1, 2, 3]
        );
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn a_silent_connection_ends() {
        let (client, server) = served(QUICK);
        assert_eq!(server.join().unwrap().unwrap_err().kind(), ErrorKind::TimedOut);
        drop(client);
    }

    #[test]
    fn single_bytes_do_not_keep_a_connection_open() {
        let (mut client, server) = served(QUICK);
        // Each byte arrives well within the time for a whole query.
        let mut is_open = |byte: &u8| {
            thread::sleep(QUICK.idle / 5);
            !server.is_finished() && client.write_all(&[*byte]).is_ok()
        };
        let queries = query(1).repeat(1000);
        assert!(!queries.iter().all(&mut is_open), "the connection is kept open");
        assert_eq!(server.join().unwrap().unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn what_is_no_query_ends_the_connection() {
        for bytes in [&b"\0\0"[..], b"\0\x05hello", b"GET / HTTP/1.1\r\n\r\n"] {
            let (mut client, server) = served(SLOW);
            client.write_all(bytes).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
            assert!(server.join().unwrap().is_err(), "{bytes:?}");
        }
    }
}
