extension Client {
    /// The backend of a client that an app makes.
    static func makeBackend(configuration: ClientConfiguration, front: ClientFront) -> any CallBackend {
        fatalError("the engine is not wired in yet")
    }
}
